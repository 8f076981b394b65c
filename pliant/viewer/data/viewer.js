"use strict";
(() => {
  // For tests and scripts: what the page shows, and a way to choose the frame.
  const hook = window.pliant = { ready: false, frames: 0, frame: 0, strain: false, wireframe: false, errors: [], setFrame: () => {} };
  const publish = () => { document.documentElement.dataset.pliant = JSON.stringify(hook); };
  const $ = (id) => document.getElementById(id);

  function fail(text) {
    hook.errors.push(String(text));
    $("message").hidden = false;
    $("message").textContent = String(text);
    publish();
  }
  const report = console.error;
  console.error = (...words) => { hook.errors.push(words.join(" ")); publish(); report(...words); };
  window.addEventListener("error", (event) => fail(event.message));
  window.addEventListener("unhandledrejection", (event) => fail(event.reason && event.reason.message || event.reason));

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
    uniform vec3 gridOrigin; uniform vec3 gridU; uniform vec3 gridV; uniform float gridStep; varying vec3 vPlace;
    float gridLine() {
      vec2 p = vec2(dot(vPlace - gridOrigin, gridU), dot(vPlace - gridOrigin, gridV)) / gridStep;
      vec2 width = fwidth(p);
      vec2 line = clamp(1.0 - abs(fract(p - 0.5) - 0.5) / (1.2 * width), 0.0, 1.0);
      return max(line.x, line.y) * clamp(1.0 - 2.0 * max(width.x, width.y), 0.0, 1.0);
    }
    float nearness() { return 1.0 - smoothstep(2.0, 5.5, length(vPlace)); }
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
      shader.vertexShader = "varying vec3 vPlace;\n" + shader.vertexShader.replace("#include <begin_vertex>",
        "#include <begin_vertex>\n  vPlace = position;");
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
      vertexShader: "varying vec3 vPlace; void main() { vPlace = position; gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0); }",
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
    const triangles = await unpack(part.triangles);
    const geometry = new THREE.BufferGeometry();
    for (const name of ["position", "normal", "color"]) {
      const attribute = new THREE.BufferAttribute(new Float32Array(3 * part.count), 3);
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
    return { part, triangles, geometry, mesh, wire, lines };
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
    scene.add(mesh);
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

  async function start() {
    const data = JSON.parse($("recording").textContent);
    hook.frames = data.times.length;
    document.title = $("title").textContent = data.title;
    $("protocol").textContent = `${data.protocol} · grid ${data.view.grid_text}`;
    if (!window.DecompressionStream) throw new Error("This browser is too old for the page: it needs Chrome 80, Firefox 113 or Safari 16.4.");
    let renderer;
    try {
      renderer = new THREE.WebGLRenderer({ canvas: $("view"), antialias: true });
    } catch (error) {
      throw new Error("This browser cannot draw in 3D (WebGL 2 is missing or turned off).", { cause: error });
    }
    renderer.setPixelRatio(Math.min(window.devicePixelRatio || 1, 2));
    renderer.setClearColor(colour(data.colours.background));
    renderer.shadowMap.enabled = true;
    renderer.shadowMap.type = THREE.PCFShadowMap;
    renderer.shadowMap.autoUpdate = false;

    const scene = new THREE.Scene();
    const camera = new THREE.PerspectiveCamera(THREE_DEGREES * data.view.fov, 1, 0.01, 60);
    camera.up.set(0, 0, 1);
    const controls = new THREE.OrbitControls(camera, renderer.domElement);
    controls.minDistance = 0.05;
    controls.maxDistance = 30;
    addLights(scene, data.view.direction);
    const parts = [];
    for (const part of data.parts) parts.push(await buildPart(scene, part));
    for (const solid of data.solids) await buildSolid(scene, solid, data);
    if (!data.view.floor) scene.add(referenceGrid(data));
    const positions = await unpack(data.frames.values);
    const strains = data.strain && await unpack(data.strain.values);
    const table = data.strain && Float32Array.from({ length: 768 }, (_, i) =>
      colour([data.strain.table[i], 0, 0]).r);

    // -- drawing, only when something changed
    let dirty = false;
    const draw = () => { dirty = false; renderer.render(scene, camera); };
    const redraw = () => { if (!dirty) { dirty = true; requestAnimationFrame(draw); } };
    let moved = false;
    controls.addEventListener("start", () => { moved = true; });
    controls.addEventListener("change", redraw);

    function resize() {
      const w = window.innerWidth, h = window.innerHeight;
      const top = Math.min(document.querySelector("header").offsetHeight, 0.3 * h);
      const bottom = Math.min(document.querySelector("footer").offsetHeight + 16, 0.35 * h);
      const free = Math.max(h - top - bottom, 0.3 * h);
      renderer.setSize(w, h, false);
      camera.aspect = w / free;
      camera.setViewOffset(w, free, 0, -top, w, h);
      if (!moved) { frameCamera(camera, controls, data.view, camera.aspect); controls.update(); }
      redraw();
    }

    // -- the frame that is shown
    const strainRow = [];
    if (data.strain) { let row = 0; for (const has of data.strain.has) strainRow.push(has ? row++ : -1); }
    const total = data.parts.reduce((n, part) => Math.max(n, part.start + part.count), 0);
    const [step, low] = [data.frames.step, data.frames.low];

    function show(frame) {
      hook.frame = frame;
      parts.forEach((piece) => { piece.mesh.visible = hook.frames > 0; });
      if (hook.frames) {
        for (const piece of parts) {
          const { part, geometry, mesh } = piece;
          const x = geometry.getAttribute("position").array;
          const from = 3 * (frame * total + part.start);
          for (let i = 0; i < x.length; i++) x[i] = low[i % 3] + step * positions[from + i];
          smoothNormals(piece);
          const coloured = hook.strain && strainRow[frame] >= 0;
          if (coloured) {
            const c = geometry.getAttribute("color").array;
            const s = strainRow[frame] * total + part.start;
            for (let i = 0; i < part.count; i++) for (let k = 0; k < 3; k++) c[3 * i + k] = table[3 * strains[s + i] + k];
          }
          if (mesh.material.vertexColors !== coloured) {
            mesh.material.vertexColors = coloured;
            mesh.material.color = coloured ? new THREE.Color(1, 1, 1) : colour(part.colour);
            mesh.material.needsUpdate = true;
          }
          for (const name of ["position", "normal", "color"]) geometry.getAttribute(name).needsUpdate = true;
        }
      }
      renderer.shadowMap.needsUpdate = true;
      $("scrub").value = frame;
      $("counter").textContent = hook.frames ? `${frame + 1} / ${hook.frames} · ${data.times[frame].toFixed(decimals)} s` : "no frames";
      publish();
      redraw();
    }
    const span = hook.frames ? data.times[hook.frames - 1] - data.times[0] : 0;
    const decimals = span > 0 ? Math.max(0, Math.min(9, 2 - Math.floor(Math.log10(span / hook.frames)) - 1)) : 3;
    const clamp = (frame) => Math.max(0, Math.min(hook.frames - 1, Math.round(frame) || 0));
    hook.setFrame = (frame) => { pause(); show(clamp(frame)); };
    // What is on the screen, in metres: x, y, z of every vertex.
    hook.positions = () => parts.flatMap(({ geometry }) => Array.from(geometry.getAttribute("position").array,
      (value, i) => value * data.view.radius + data.view.centre[i % 3]));

    // -- playing
    let playing = false, clock = 0, last = 0;
    function pause() {
      playing = false;
      $("play").textContent = "▶";
      $("play").setAttribute("aria-label", "Play");
    }
    function play() {
      if (hook.frames < 2) return;
      playing = true;
      last = 0;
      clock = data.times[hook.frame === hook.frames - 1 ? 0 : hook.frame];
      $("play").textContent = "❚❚";
      $("play").setAttribute("aria-label", "Pause");
      requestAnimationFrame(tick);
    }
    function tick(now) {
      if (!playing) return;
      const end = data.times[hook.frames - 1];
      const speed = $("speed").value === "fit" ? span / 5 : Number($("speed").value);
      if (last) clock += speed * Math.min((now - last) / 1000, 0.25);
      last = now;
      if (clock > end + 0.8 * speed) clock = data.times[0]; // rest a little on the last frame
      let frame = hook.frame;
      if (data.times[frame] > clock) frame = 0;
      while (frame + 1 < hook.frames && data.times[frame + 1] <= clock) frame++;
      if (frame !== hook.frame) show(frame);
      requestAnimationFrame(tick);
    }

    // -- controls
    const press = (id, on) => $(id).setAttribute("aria-pressed", String(on));
    function setStrain(on) {
      hook.strain = Boolean(on && data.strain);
      press("strain", hook.strain);
      $("scale").hidden = !hook.strain;
      show(hook.frame);
    }
    function setWire(on) {
      hook.wireframe = Boolean(on);
      press("wire", hook.wireframe);
      for (const piece of parts) {
        if (on && !piece.wire.index) piece.wire.setIndex(new THREE.BufferAttribute(edgesOf(piece.triangles), 1));
        piece.lines.visible = hook.wireframe && hook.frames > 0;
      }
      publish();
      redraw();
    }
    function setDetails(on) { $("details").hidden = !on; press("info", on); }
    const reset = () => { moved = false; resize(); };
    $("play").onclick = () => (playing ? pause() : play());
    $("scrub").oninput = (event) => hook.setFrame(Number(event.target.value));
    $("strain").onclick = () => setStrain(!hook.strain);
    $("wire").onclick = () => setWire(!hook.wireframe);
    $("reset").onclick = reset;
    $("info").onclick = () => setDetails($("details").hidden);
    $("close").onclick = () => setDetails(false);
    window.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("select")) return;
      const act = {
        " ": () => $("play").onclick(), s: () => setStrain(!hook.strain), w: () => setWire(!hook.wireframe), r: reset,
        ArrowLeft: () => hook.setFrame(hook.frame - 1), ArrowRight: () => hook.setFrame(hook.frame + 1),
        Home: () => hook.setFrame(0), End: () => hook.setFrame(hook.frames - 1),
      }[event.key];
      if (act && !(event.key === " " && event.target.matches("button"))) { act(); event.preventDefault(); }
    });
    window.addEventListener("resize", resize);

    fillPanels(data, parts);
    $("scrub").max = Math.max(0, hook.frames - 1);
    for (const id of ["play", "scrub", "speed"]) $(id).disabled = hook.frames < 2;
    $("strain").disabled = !data.strain;
    $("message").hidden = hook.frames > 0;
    $("message").textContent = "This recording holds no frames.";

    function obeyHash() {
      const wish = new URLSearchParams(location.hash.slice(1));
      if (wish.has("wire")) setWire(wish.get("wire") !== "0");
      if (wish.has("strain")) setStrain(wish.get("strain") !== "0");
      if (wish.has("details")) setDetails(wish.get("details") !== "0");
      if (wish.has("frame")) hook.setFrame(Number(wish.get("frame")));
      return wish;
    }
    show(0);
    resize();
    const wish = obeyHash();
    window.addEventListener("hashchange", obeyHash);
    draw();
    hook.ready = true;
    publish();
    if (!wish.has("frame") && !window.matchMedia("(prefers-reduced-motion: reduce)").matches) play();
  }

  function fillPanels(data, parts) {
    if (parts.length > 1) {
      for (const { part } of parts) {
        const item = document.createElement("li");
        const chip = document.createElement("i");
        chip.style.background = `rgb(${part.colour.join(",")})`;
        item.append(chip, part.name);
        $("parts").append(item);
      }
    }
    $("note").textContent = [data.strain ? `strain ${data.strain.range}` : "no strain recorded", data.frames.note].join(" · ");
    $("meta").textContent = JSON.stringify(data.meta, null, 2);
    if (!data.strain) return;
    const context = $("bar").getContext("2d");
    for (let y = 0; y < 256; y++) {
      context.fillStyle = `rgb(${data.strain.table.slice(3 * (255 - y), 3 * (256 - y)).join(",")})`;
      context.fillRect(0, y, 1, 1);
    }
    for (const label of [...data.strain.labels].reverse()) {
      const item = document.createElement("li");
      item.textContent = label;
      $("ticks").append(item);
    }
  }

  const THREE_DEGREES = 180 / Math.PI;
  publish();
  start().catch((error) => fail(error.message));
})();
