export {
  BufferAttribute, BufferGeometry, Color, DirectionalLight, DynamicDrawUsage, HemisphereLight, LineBasicMaterial, LineSegments, Mesh,
  MeshStandardMaterial, PCFShadowMap, PerspectiveCamera, Scene, Vector3, WebGLRenderer,
  DoubleSide, ShaderMaterial,
} from "three";
export { OrbitControls } from "three/addons/controls/OrbitControls.js";
