"use strict";
/** A simulation that runs while the page is open: frames come in one long answer, buttons are posted back. */
const live = (() => {
  const TRIES = 10, PAUSE = 1000; // ms between two tries to reach a simulation that does not answer

  /** Cuts a stream of bytes into frames: two lengths (uint32), a JSON header, the payload. */
  class Cutter {
    constructor() { this.kept = new Uint8Array(0); }

    /** The newest whole frame among all bytes so far, or null; older ones are left out, but not what only they said. */
    add(bytes) {
      const all = new Uint8Array(this.kept.length + bytes.length);
      all.set(this.kept);
      all.set(bytes, this.kept.length);
      let at = 0, found = null, points = null;
      while (all.length - at >= 8) {
        const lengths = new DataView(all.buffer, at, 8);
        const words = lengths.getUint32(0, true), body = at + 8 + words, end = body + lengths.getUint32(4, true);
        if (end > all.length) break;
        const header = JSON.parse(new TextDecoder().decode(all.subarray(at + 8, body)));
        points = header.points || points;
        found = { header, payload: all.slice(body, end).buffer };
        at = end;
      }
      this.kept = all.slice(at);
      if (found && points) found.header.points = points;
      return found;
    }
  }

  /** Stands in for the player of a recording: its buttons act on the simulation. */
  class Player {
    constructor(view, page) {
      Object.assign(this, { view, page, cutter: new Cutter(), header: { state: "paused", time: view.data.times[0], step: 0, rate: 0, note: "" } });
      Object.assign(page.hook, { live: true, received: 0 });
      view.caption = () => this.caption();
      const { $ } = page;
      $("scrub").hidden = true;
      $("step").hidden = false;
      $("restart").hidden = !view.data.live.reset;
      $("play").disabled = $("speed").disabled = false;
      for (const option of $("speed").options) option.hidden = option.value === "fit";
      this.showPace(view.data.live.pace);
      $("speed").onchange = () => this.order("pace", $("speed").value === "max" ? null : Number($("speed").value));
      $("step").onclick = () => this.jump(page.hook.frame + 1);
      $("restart").onclick = () => this.order("reset");
      this.listen();
    }

    caption() {
      const { time, step, rate, state, note } = this.header;
      const pace = state === "running" && rate > 0 ? ` · ${rate < 0.095 ? rate.toPrecision(1) : rate.toFixed(rate < 9.95 ? 1 : 0)}× real time` : "";
      return `${time.toFixed(3)} s · step ${step}${pace || ` · ${note || state}`}`;
    }

    showPace(pace) {
      const { $ } = this.page, value = pace === null ? "max" : String(pace);
      if (![...$("speed").options].some((option) => option.value === value)) $("speed").add(new Option(`${value}×`, value));
      $("speed").value = value;
    }

    async order(act, value = null) {
      try {
        await fetch("command", { method: "POST", body: JSON.stringify({ do: act, value }) });
      } catch (error) {
        this.gone();
      }
    }

    toggle() { this.order(this.header.state === "running" ? "pause" : "run"); }
    pause() {}
    play() {}
    jump(frame) { if (frame > this.page.hook.frame) this.order("step"); }

    async listen() {
      for (let tries = 0; tries < TRIES && this.header.state !== "over"; tries++) {
        if (tries) await new Promise((go) => setTimeout(go, PAUSE));
        this.cutter = new Cutter();
        try {
          const reader = (await fetch("frames")).body.getReader();
          for (let part = await reader.read(); !part.done; part = await reader.read()) {
            tries = 0;
            const frame = this.cutter.add(part.value);
            if (frame) this.take(frame);
          }
        } catch (error) {
          // the simulation's program has ended, or is too busy: try again
        }
      }
      this.gone();
    }

    take({ header, payload }) {
      const { view, page } = this;
      this.header = header;
      const floats = new Float32Array(payload, 0, 3 * header.vertices + 12 * header.solids);
      view.positions.set(floats.subarray(0, 3 * header.vertices));
      view.poses.set(floats.subarray(3 * header.vertices));
      if (view.strains) view.strains.set(new Uint8Array(payload, 4 * floats.length, header.vertices));
      if (header.points) view.data.view.points = header.points;
      if (view.data.strain && header.labels.join() !== view.data.strain.labels.join()) {
        view.data.strain.labels = header.labels;
        page.fillTicks(view.data);
      }
      const running = header.state === "running";
      page.$("play").textContent = running ? "❚❚" : "▶";
      page.$("play").setAttribute("aria-label", running ? "Pause" : "Run");
      this.showPace(header.pace);
      page.hook.received++;
      page.hook.state = header.state;
      page.hook.time = header.time;
      view.show(0);
      if (header.points && !view.moved) view.resize();
      if (header.state === "over") this.gone();
    }

    gone() {
      const { $, hook } = this.page;
      const over = this.header.state === "over";
      if (!over) this.header.state = hook.state = "lost";
      this.header.note = over ? "the run is over" : "the simulation does not answer any more";
      for (const id of ["play", "step", "restart", "speed"]) $(id).disabled = true;
      $("play").textContent = "▶";
      $("counter").textContent = this.caption();
      this.page.publish();
    }
  }

  return { Player, Cutter };
})();
