"""Export: recordings and meshes as files of other programs."""
