"""What is wrong with a mesh, in words, numbers and a picture."""
