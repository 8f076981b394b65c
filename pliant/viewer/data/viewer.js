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

  /** What is on the screen: the camera, one frame, and how it is coloured. It draws only when something changed. */
  class View {
    constructor(data, scenery, positions, strains, poses) {
      Object.assign(this, scenery, { data, positions, strains, poses, dirty: false, moved: false });
      this.movers = this.solids.filter(({ solid }) => solid.moves);
      this.total = data.parts.reduce((n, part) => Math.max(n, part.start + part.count), 0);
      this.table = data.strain && data.strain.table.map((byte) => stage.colour([byte, 0, 0]).r);
      let row = 0;
      this.strainRow = data.strain ? data.strain.has.map((has) => (has ? row++ : -1)) : [];
      this.controls.addEventListener("start", () => { this.moved = true; });
      this.controls.addEventListener("change", () => this.redraw());
    }

    draw() {
      this.dirty = false;
      this.renderer.render(this.scene, this.camera);
    }

    redraw() {
      if (this.dirty) return;
      this.dirty = true;
      requestAnimationFrame(() => this.draw());
    }

    /** Fill the window; the scene is framed in what header and footer leave free. */
    resize() {
      const w = window.innerWidth, h = window.innerHeight;
      const top = Math.min(document.querySelector("header").offsetHeight, 0.3 * h);
      const bottom = Math.min(document.querySelector("footer").offsetHeight + 16, 0.35 * h);
      const free = Math.max(h - top - bottom, 0.3 * h);
      this.renderer.setSize(w, h, false);
      this.camera.aspect = w / free;
      this.camera.setViewOffset(w, free, 0, -top, w, h);
      if (!this.moved) {
        stage.frameCamera(this.camera, this.controls, this.data.view, this.camera.aspect);
        this.controls.update();
      }
      this.redraw();
    }

    reset() {
      this.moved = false;
      this.resize();
    }

    show(frame) {
      hook.frame = frame;
      for (const piece of this.parts) {
        piece.mesh.visible = hook.frames > 0;
        if (hook.frames) this.move(piece, frame);
      }
      if (hook.frames) this.movers.forEach((mover, i) => stage.placeSolid(mover, this.poses, 12 * (frame * this.movers.length + i)));
      this.renderer.shadowMap.needsUpdate = true;
      $("scrub").value = frame;
      $("counter").textContent = this.caption(frame);
      publish();
      this.redraw();
    }

    caption(frame) {
      return hook.frames ? `${frame + 1} / ${hook.frames} · ${this.data.times[frame].toFixed(this.decimals())} s` : "no frames";
    }

    /** Digits that tell neighbouring frames apart. */
    decimals() {
      const span = this.data.times[hook.frames - 1] - this.data.times[0];
      return span > 0 ? Math.max(0, Math.min(9, 1 - Math.floor(Math.log10(span / hook.frames)))) : 3;
    }

    move(piece, frame) {
      const { part, source, geometry } = piece;
      const { step, low } = this.data.frames;
      const x = geometry.getAttribute("position").array;
      const from = 3 * (frame * this.total + part.start);
      for (let i = 0; i < source.length; i++) {
        for (let k = 0; k < 3; k++) x[3 * i + k] = low[k] + step * this.positions[from + 3 * source[i] + k];
      }
      stage.smoothNormals(piece);
      this.paint(piece, frame);
      for (const name of ["position", "normal", "color"]) geometry.getAttribute(name).needsUpdate = true;
    }

    paint({ part, source, geometry, mesh }, frame) {
      const coloured = hook.strain && this.strainRow[frame] >= 0;
      if (coloured) {
        const c = geometry.getAttribute("color").array;
        const from = this.strainRow[frame] * this.total + part.start;
        for (let i = 0; i < source.length; i++) {
          for (let k = 0; k < 3; k++) c[3 * i + k] = this.table[3 * this.strains[from + source[i]] + k];
        }
      }
      if (mesh.material.vertexColors !== coloured) {
        mesh.material.vertexColors = coloured;
        mesh.material.color = stage.colour(coloured ? [255, 255, 255] : part.colour);
        mesh.material.needsUpdate = true;
      }
    }

    setStrain(on) {
      hook.strain = Boolean(on && this.data.strain);
      press("strain", hook.strain);
      $("scale").hidden = !hook.strain;
      this.show(hook.frame);
    }

    setWire(on) {
      hook.wireframe = Boolean(on);
      press("wire", hook.wireframe);
      for (const piece of this.parts) {
        if (on && !piece.wire.index) piece.wire.setIndex(new THREE.BufferAttribute(stage.edgesOf(piece.triangles), 1));
        piece.lines.visible = hook.wireframe && hook.frames > 0;
      }
      publish();
      this.redraw();
    }
  }

  /** Time: which frame is due. */
  class Player {
    constructor(view) {
      this.view = view;
      this.times = view.data.times;
      this.playing = false;
    }

    pause() {
      this.playing = false;
      $("play").textContent = "▶";
      $("play").setAttribute("aria-label", "Play");
    }

    play() {
      if (hook.frames < 2) return;
      this.playing = true;
      this.last = 0;
      this.clock = this.times[hook.frame === hook.frames - 1 ? 0 : hook.frame];
      $("play").textContent = "❚❚";
      $("play").setAttribute("aria-label", "Pause");
      requestAnimationFrame((now) => this.tick(now));
    }

    toggle() {
      if (this.playing) this.pause();
      else this.play();
    }

    tick(now) {
      if (!this.playing) return;
      const end = this.times[hook.frames - 1];
      const speed = $("speed").value === "fit" ? (end - this.times[0]) / 5 : Number($("speed").value);
      if (this.last) this.clock += speed * Math.min((now - this.last) / 1000, 0.25);
      this.last = now;
      if (this.clock > end + 0.8 * speed) this.clock = this.times[0]; // rest a little on the last frame
      let frame = this.times[hook.frame] > this.clock ? 0 : hook.frame;
      while (frame + 1 < hook.frames && this.times[frame + 1] <= this.clock) frame++;
      if (frame !== hook.frame) this.view.show(frame);
      requestAnimationFrame((later) => this.tick(later));
    }

    jump(frame) {
      this.pause();
      this.view.show(Math.max(0, Math.min(hook.frames - 1, Math.round(frame) || 0)));
    }
  }

  const press = (id, on) => $(id).setAttribute("aria-pressed", String(on));

  function setDetails(on) {
    $("details").hidden = !on;
    press("info", on);
  }

  function bindControls(view, player) {
    $("play").onclick = () => player.toggle();
    $("scrub").oninput = (event) => player.jump(Number(event.target.value));
    $("strain").onclick = () => view.setStrain(!hook.strain);
    $("wire").onclick = () => view.setWire(!hook.wireframe);
    $("reset").onclick = () => view.reset();
    $("info").onclick = () => setDetails($("details").hidden);
    $("close").onclick = () => setDetails(false);
    const keys = {
      " ": () => player.toggle(), s: () => view.setStrain(!hook.strain), w: () => view.setWire(!hook.wireframe), r: () => view.reset(),
      ArrowLeft: () => player.jump(hook.frame - 1), ArrowRight: () => player.jump(hook.frame + 1),
      Home: () => player.jump(0), End: () => player.jump(hook.frames - 1),
    };
    window.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("select")) return;
      if (!keys[event.key] || (event.key === " " && event.target.matches("button"))) return;
      keys[event.key]();
      event.preventDefault();
    });
    window.addEventListener("resize", () => view.resize());
    $("scrub").max = Math.max(0, hook.frames - 1);
    if (!view.data.live) for (const id of ["play", "scrub", "speed"]) $(id).disabled = hook.frames < 2;
    $("strain").disabled = !view.data.strain;
  }

  function fillPanels(data) {
    for (const part of data.parts.length > 1 ? data.parts : []) {
      const item = document.createElement("li");
      const chip = document.createElement("i");
      chip.style.background = `rgb(${part.colour.join(",")})`;
      item.append(chip, part.name);
      $("parts").append(item);
    }
    $("note").textContent = [data.live ? "" : data.strain ? `strain ${data.strain.range}` : "no strain recorded", data.frames.note]
      .filter(Boolean).join(" · ");
    $("meta").textContent = JSON.stringify(data.meta, null, 2);
    $("message").hidden = hook.frames > 0;
    $("message").textContent = "This recording holds no frames.";
    if (!data.strain) return;
    const context = $("bar").getContext("2d");
    for (let y = 0; y < 256; y++) {
      context.fillStyle = `rgb(${data.strain.table.slice(3 * (255 - y), 3 * (256 - y)).join(",")})`;
      context.fillRect(0, y, 1, 1);
    }
    fillTicks(data);
  }

  function fillTicks(data) {
    $("ticks").replaceChildren(...[...data.strain.labels].reverse().map((label) => {
      const item = document.createElement("li");
      item.textContent = label;
      return item;
    }));
  }

  /** What follows # in the address: frame, strain, wire, details. */
  function obeyHash(view, player) {
    const wish = new URLSearchParams(location.hash.slice(1));
    if (wish.has("wire")) view.setWire(wish.get("wire") !== "0");
    if (wish.has("strain")) view.setStrain(wish.get("strain") !== "0");
    if (wish.has("details")) setDetails(wish.get("details") !== "0");
    if (wish.has("frame") && !view.data.live) player.jump(Number(wish.get("frame")));
    return wish.has("frame");
  }

  async function start() {
    const data = JSON.parse($("recording").textContent);
    hook.frames = data.times.length;
    document.title = $("title").textContent = data.title;
    $("protocol").textContent = `${data.protocol} · grid ${data.view.grid_text}`;
    if (!window.DecompressionStream) throw new Error("This browser is too old for the page: it needs Chrome 80, Firefox 113 or Safari 16.4.");
    const scenery = await stage.build(data, $("view"));
    const view = new View(data, scenery, await stage.unpack(data.frames.values), data.strain && await stage.unpack(data.strain.values),
      await stage.unpack(data.poses));
    const player = data.live ? new live.Player(view, { $, hook, publish, fillTicks }) : new Player(view);
    hook.setFrame = (frame) => player.jump(frame);
    // What is on the screen, in metres: x, y, z of every vertex; null for those inside a body.
    hook.positions = () => view.parts.flatMap(({ part, source, geometry }) => {
      const shown = geometry.getAttribute("position").array, out = new Array(3 * part.count).fill(null);
      shown.forEach((value, i) => { out[3 * source[Math.floor(i / 3)] + (i % 3)] = value * data.view.radius + data.view.centre[i % 3]; });
      return out;
    });
    // Where the colliders are, in metres: rows of each rotation with the position behind them, in the solid's own frame.
    hook.solids = () => view.solids.map(({ solid, mesh }) => {
      const m = mesh.matrix.elements, at = (i) => m[12 + i] * data.view.radius + data.view.centre[i];
      return solid.moves ? [0, 1, 2].flatMap((i) => [m[i], m[i + 4], m[i + 8], at(i)]) : null;
    });
    fillPanels(data);
    bindControls(view, player);
    view.show(0);
    view.resize();
    const chosen = obeyHash(view, player);
    window.addEventListener("hashchange", () => obeyHash(view, player));
    view.draw();
    hook.ready = true;
    publish();
    if (!chosen && !window.matchMedia("(prefers-reduced-motion: reduce)").matches) player.play();
  }

  publish();
  start().catch((error) => fail(error.message));
})();
