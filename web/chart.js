// One line over time. Colours are those of the page, also when the reader turns the lights off.

import { AreaSeries, createChart } from "/web/lightweight-charts.js";
import { formatPercent } from "./money.js";
import { longDay } from "./words.js";

/** @typedef {{time: string, bps: number, carried: boolean}} Point */

// A chart asks either ResizeObserver for its size in device pixels or devicePixelRatio. Where a device
// is emulated, the first is in pixels of the screen and the chart blurred; without it the second is used.
Reflect.deleteProperty(ResizeObserverEntry.prototype, "devicePixelContentBoxSize");

const lights = matchMedia("(prefers-color-scheme: dark)");
/** A line through so few days is drawn with its points. */
const pointsShownMax = 12;

/**
 * @param {HTMLElement} place where it is drawn
 * @param {HTMLElement} reading where the value under the pointer is written
 */
export function drawChart(place, reading) {
  const chart = createChart(place, {
    autoSize: true,
    // The attribution is in words at the foot of the page; the logo would need an inline style.
    layout: { attributionLogo: false },
    // The page scrolls under a finger; the chart does not catch it.
    handleScroll: false,
    handleScale: false,
    localization: { priceFormatter: (/** @type {number} */ value) => value.toFixed(2) },
    rightPriceScale: { borderVisible: false, scaleMargins: { top: 0.12, bottom: 0.08 } },
    timeScale: { borderVisible: false, fixLeftEdge: true, fixRightEdge: true },
    crosshair: {
      horzLine: { visible: false, labelVisible: false },
      vertLine: { labelVisible: false },
    },
  });
  const series = chart.addSeries(AreaSeries, { lineWidth: 2, priceLineVisible: false });
  /** @type {readonly Point[]} */
  let points = [];

  function paint() {
    if (!place.isConnected) return; // The page was left, and its colours with it.
    const style = getComputedStyle(place);
    const colour = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
    chart.applyOptions({
      layout: {
        background: { color: "transparent" },
        textColor: colour("--muted"),
        fontFamily: style.fontFamily,
        fontSize: 12,
      },
      grid: { vertLines: { visible: false }, horzLines: { color: colour("--line") } },
    });
    const line = colour("--series");
    const fill = { topColor: colour("--series-fill"), bottomColor: colour("--series-fade") };
    series.applyOptions({
      lineColor: line,
      ...fill,
      pointMarkersVisible: points.length <= pointsShownMax,
    });
    series.setData(
      // A point colours the line to the next one.
      points.map(({ time, bps }, at) => ({
        time,
        value: bps / 100,
        ...(points[at + 1]?.carried && { lineColor: colour("--series-carried"), ...fill }),
      })),
    );
    chart.timeScale().fitContent();
  }

  /** @param {Point | undefined} point */
  function read(point) {
    const source = point?.carried ? ", carried" : "";
    reading.textContent = point
      ? `${longDay(point.time)}: ${formatPercent(point.bps)} %${source}`
      : "";
  }

  chart.subscribeCrosshairMove(({ time }) => {
    read(points.find((point) => point.time === time) ?? points.at(-1));
  });
  // The width is known only once the page is laid out, and changes with the window.
  chart.timeScale().subscribeSizeChange(() => chart.timeScale().fitContent());
  lights.addEventListener("change", paint);

  return {
    /** @param {readonly Point[]} shown */
    show(shown) {
      points = shown;
      paint();
      read(points.at(-1));
    },
  };
}
