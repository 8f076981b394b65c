"use strict";
/** The scene: unpacking, materials, lights, cloth and colliders. It knows no buttons and no time. */
const stage = (() => {
  // ---- the other half of packing.py -------------------------------------------------------------

  async function inflate(text) {
    const packed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  async function unpack(packed) {
    const [T, N, C] = packed.shape;
    const size = { uint8: 1, uint16: 2, uint32: 4, float32: 4 }[packed.type];
    const words = new { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array }[size](T * N * C);
    const raw = await inflate(packed.data);
    const count = T * N * C;
    for (let c = 0, k = 0; c < C; c++) {
      for (let t = 0; t < T; t++) {
        for (let n = 0, at = t * N * C + c; n < N; n++, k++, at += C) {
          let word = raw[k];
          for (let b = 1; b < size; b++) word |= raw[b * count + k] << (8 * b);
          words[at] = (word >>> 1) ^ -(word & 1);
        }
      }
    }
    if (packed.along) {
      for (let t = 0; t < T; t++) {
        for (let i = t * N * C + C; i < (t + 1) * N * C; i++) words[i] += words[i - C];
      }
    }
    for (let k = 0; k < packed.order; k++) {
      for (let i = N * C; i < count; i++) words[i] += words[i - N * C];
    }
    return packed.type === "float32" ? new Float32Array(words.buffer) : words;
  }

  // ---- materials --------------------------------------------------------------------------------

  const colour = (rgb) => new THREE.Color().setRGB(rgb[0] / 255, rgb[1] / 255, rgb[2] / 255, "srgb");

  /** Cloth: each side in its own colour, unless vertex colours are on. */
  function clothMaterial(front, back) {
    const material = new THREE.MeshStandardMaterial({
      color: colour(front), side: THREE.DoubleSide, roughness: 0.86, metalness: 0,
      polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1,
    });
    material.onBeforeCompile = (shader) => {
      shader.uniforms.back = { value: colour(back) };
      shader.fragmentShader = "uniform vec3 back;\n" + shader.fragmentShader.replace("#include <color_fragment>",
        "#include <color_fragment>\n#ifndef USE_COLOR\n  if (!gl_FrontFacing) diffuseColor.rgb = back;\n#endif");
    };
    return material;
  }

  const gridChunk = `
    uniform vec3 gridOrigin; uniform vec3 gridU; uniform vec3 gridV; uniform float gridStep;
    varying vec3 vPlace; varying vec3 vScene; // on the plane, which may move; in the scene
    float gridLine() {
      vec2 p = vec2(dot(vPlace - gridOrigin, gridU), dot(vPlace - gridOrigin, gridV)) / gridStep;
      vec2 width = fwidth(p);
      vec2 line = clamp(1.0 - abs(fract(p - 0.5) - 0.5) / (1.2 * width), 0.0, 1.0);
      return max(line.x, line.y) * clamp(1.0 - 2.0 * max(width.x, width.y), 0.0, 1.0);
    }
    float nearness() { return 1.0 - smoothstep(2.0, 5.5, length(vScene)); }
`;

  function gridUniforms(plane, step) {
    return {
      gridOrigin: { value: new THREE.Vector3(...plane.origin) }, gridU: { value: new THREE.Vector3(...plane.u) },
      gridV: { value: new THREE.Vector3(...plane.v) }, gridStep: { value: step },
    };
  }

  /** A large plane: grid lines near the scene, and it fades into the background. */
  function floorMaterial(plane, data) {
    const material = new THREE.MeshStandardMaterial({ color: colour(data.colours.background), side: THREE.DoubleSide, roughness: 1 });
    material.onBeforeCompile = (shader) => {
      Object.assign(shader.uniforms, gridUniforms(plane, data.view.grid), { far: { value: colour(data.colours.background) } });
      shader.vertexShader = "varying vec3 vPlace; varying vec3 vScene;\n" + shader.vertexShader.replace("#include <begin_vertex>",
        "#include <begin_vertex>\n  vPlace = position; vScene = (modelMatrix * vec4(position, 1.0)).xyz;");
      shader.fragmentShader = "uniform vec3 far;\n" + gridChunk + shader.fragmentShader.replace("#include <opaque_fragment>",
        "outgoingLight = mix(far, outgoingLight * (1.0 - 0.14 * gridLine()), nearness());\n#include <opaque_fragment>");
    };
    return material;
  }

  /** Grid lines alone, where no collider is a floor: they show scale and direction, not a surface. */
  function referenceGrid(data) {
    const z = data.view.lowest - 0.01;
    const plane = { origin: [data.view.origin[0], data.view.origin[1], z], u: [1, 0, 0], v: [0, 1, 0] };
    const material = new THREE.ShaderMaterial({
      transparent: true, depthWrite: false, side: THREE.DoubleSide, uniforms: gridUniforms(plane, data.view.grid),
      vertexShader: "varying vec3 vPlace; varying vec3 vScene; void main() { vPlace = vScene = position; gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0); }",
      fragmentShader: gridChunk + "void main() { gl_FragColor = vec4(vec3(0.12), 0.2 * gridLine() * (1.0 - smoothstep(1.2, 3.0, length(vPlace)))); }",
    });
    const geometry = new THREE.BufferGeometry();
    const corners = new Float32Array([-3, -3, z, 3, -3, z, 3, 3, z, -3, 3, z]);
    geometry.setAttribute("position", new THREE.BufferAttribute(corners, 3));
    geometry.setIndex([0, 1, 2, 0, 2, 3]);
    return new THREE.Mesh(geometry, material);
  }

  // ---- lights -----------------------------------------------------------------------------------

  /** A key light over the viewer's left shoulder, and a sky of a few wide lights that folds shut out. */
  function addLights(scene, direction) {
    const view = new THREE.Vector3(...direction).setZ(0);
    if (view.lengthSq() < 1e-6) view.set(0, -1, 0);
    view.normalize();
    const right = new THREE.Vector3(-view.y, view.x, 0);
    const place = (ahead, side, up) => view.clone().multiplyScalar(ahead).addScaledVector(right, side).setZ(up).normalize().multiplyScalar(4);
    const shine = (strength, at, map, blur) => {
      const light = new THREE.DirectionalLight(0xffffff, strength);
      light.position.copy(at);
      light.castShadow = true;
      light.shadow.mapSize.set(map, map);
      Object.assign(light.shadow.camera, { left: -1.15, right: 1.15, top: 1.15, bottom: -1.15, near: 1, far: 9 });
      light.shadow.bias = map > 1024 ? -0.005 : -0.014;
      light.shadow.radius = blur;
      scene.add(light, light.target);
      return light;
    };
    const lights = [shine(2.2, place(0.68, -0.74, 0.78), 2048, 2.5)];
    for (const [ahead, side, up] of [[0.9, 0.35, 0.5], [0.1, 0.95, 0.6], [-0.8, 0.3, 0.7], [-0.35, -0.75, 0.9], [0.25, 0.1, 1]]) {
      lights.push(shine(0.33, place(ahead, side, up), 192, 4));
    }
    lights[0].color.set(0xfff6e8);
    scene.add(new THREE.HemisphereLight(0xeaf1ff, 0xc4bdb2, 0.9));
    return lights;
  }

  // ---- the scene --------------------------------------------------------------------------------

  function edgesOf(triangles) {
    const seen = new Set();
    const ids = [];
    for (let f = 0; f < triangles.length; f += 3) {
      for (let k = 0; k < 3; k++) {
        const a = triangles[f + k], b = triangles[f + (k + 1) % 3];
        const key = Math.min(a, b) * 4294967296 + Math.max(a, b);
        if (!seen.has(key)) { seen.add(key); ids.push(a, b); }
      }
    }
    return new Uint32Array(ids);
  }

  async function buildPart(scene, part) {
    const triangles = await unpack(part.triangles), source = await unpack(part.source);
    const geometry = new THREE.BufferGeometry();
    for (const name of ["position", "normal", "color"]) {
      const attribute = new THREE.BufferAttribute(new Float32Array(3 * source.length), 3);
      attribute.setUsage(THREE.DynamicDrawUsage);
      geometry.setAttribute(name, attribute);
    }
    geometry.setIndex(new THREE.BufferAttribute(triangles, 1));
    const mesh = new THREE.Mesh(geometry, clothMaterial(part.colour, part.back));
    mesh.castShadow = mesh.receiveShadow = true;
    mesh.frustumCulled = false;
    const wire = new THREE.BufferGeometry();
    wire.setAttribute("position", geometry.getAttribute("position"));
    const lines = new THREE.LineSegments(wire, new THREE.LineBasicMaterial({ color: 0x14171a, transparent: true, opacity: 0.3 }));
    lines.frustumCulled = false;
    lines.visible = false;
    scene.add(mesh, lines);
    return { part, source, triangles, geometry, mesh, wire, lines };
  }

  async function buildSolid(scene, solid, data) {
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(await unpack(solid.positions), 3));
    geometry.setAttribute("normal", new THREE.BufferAttribute(await unpack(solid.normals), 3));
    geometry.setIndex(new THREE.BufferAttribute(await unpack(solid.triangles), 1));
    const material = solid.plane ? floorMaterial(solid.plane, data)
      : new THREE.MeshStandardMaterial({ color: colour(data.colours.solid), side: THREE.DoubleSide, roughness: 0.9 });
    const mesh = new THREE.Mesh(geometry, material);
    mesh.receiveShadow = true;
    mesh.castShadow = !solid.plane;
    mesh.matrixAutoUpdate = false;
    mesh.frustumCulled = !solid.moves;
    scene.add(mesh);
    return { solid, mesh };
  }

  /** Put a collider where twelve numbers say: the rows of its rotation, each with its position behind it. */
  function placeSolid({ mesh }, poses, from) {
    mesh.matrix.set(...poses.subarray(from, from + 12), 0, 0, 0, 1);
    mesh.matrixWorldNeedsUpdate = true;
  }

  /** Area-weighted vertex normals of one part, from its positions. */
  function smoothNormals({ geometry, triangles }) {
    const x = geometry.getAttribute("position").array;
    const n = geometry.getAttribute("normal").array;
    n.fill(0);
    for (let f = 0; f < triangles.length; f += 3) {
      const a = 3 * triangles[f], b = 3 * triangles[f + 1], c = 3 * triangles[f + 2];
      const ux = x[b] - x[a], uy = x[b + 1] - x[a + 1], uz = x[b + 2] - x[a + 2];
      const vx = x[c] - x[a], vy = x[c + 1] - x[a + 1], vz = x[c + 2] - x[a + 2];
      const nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
      n[a] += nx; n[a + 1] += ny; n[a + 2] += nz;
      n[b] += nx; n[b + 1] += ny; n[b + 2] += nz;
      n[c] += nx; n[c + 1] += ny; n[c + 2] += nz;
    }
    for (let i = 0; i < n.length; i += 3) {
      const length = Math.hypot(n[i], n[i + 1], n[i + 2]) || 1;
      n[i] /= length; n[i + 1] /= length; n[i + 2] /= length;
    }
  }

  /** The camera of framing.fit: the nearest one along the view direction that sees every point. */
  function frameCamera(camera, controls, view, aspect) {
    const back = new THREE.Vector3(...view.direction);
    const right = new THREE.Vector3().crossVectors(camera.up, back).normalize();
    const up = new THREE.Vector3().crossVectors(back, right);
    const ty = Math.tan(view.fov / 2) / 1.06, tx = ty * aspect;
    let x1 = -Infinity, x2 = -Infinity, y1 = -Infinity, y2 = -Infinity;
    for (const point of view.points) {
      const p = new THREE.Vector3(...point);
      const a = p.dot(right), b = p.dot(up), d = -p.dot(back);
      x1 = Math.max(x1, a - tx * d); x2 = Math.max(x2, -a - tx * d);
      y1 = Math.max(y1, b - ty * d); y2 = Math.max(y2, -b - ty * d);
    }
    const w = Math.min(-(x1 + x2) / (2 * tx), -(y1 + y2) / (2 * ty));
    const base = right.multiplyScalar((x1 - x2) / 2).addScaledVector(up, (y1 - y2) / 2);
    controls.target.copy(base);
    camera.position.copy(base).addScaledVector(back, -w);
  }

  /** Renderer, scene, camera and everything in it; lengths are in units of the framing's radius. */
  async function build(data, canvas) {
    const renderer = makeRenderer(canvas, data.colours.background);
    const scene = new THREE.Scene();
    const camera = new THREE.PerspectiveCamera((180 / Math.PI) * data.view.fov, 1, 0.01, 60);
    camera.up.set(0, 0, 1);
    const controls = new THREE.OrbitControls(camera, canvas);
    controls.minDistance = 0.05;
    controls.maxDistance = 30;
    addLights(scene, data.view.direction);
    const parts = [];
    for (const part of data.parts) parts.push(await buildPart(scene, part));
    const solids = [];
    for (const solid of data.solids) solids.push(await buildSolid(scene, solid, data));
    if (!data.view.floor) scene.add(referenceGrid(data));
    return { renderer, scene, camera, controls, parts, solids };
  }

  function makeRenderer(canvas, background) {
    let renderer;
    try {
      renderer = new THREE.WebGLRenderer({ canvas, antialias: true });
    } catch (error) {
      throw new Error("This browser cannot draw in 3D (WebGL 2 is missing or turned off).", { cause: error });
    }
    renderer.setPixelRatio(Math.min(window.devicePixelRatio || 1, 2));
    renderer.setClearColor(colour(background));
    renderer.shadowMap.enabled = true;
    renderer.shadowMap.type = THREE.PCFShadowMap;
    renderer.shadowMap.autoUpdate = false; // only a new frame moves shadows
    return renderer;
  }

  return { build, unpack, colour, smoothNormals, placeSolid, frameCamera, edgesOf };
})();
