package io.railhead.cli.bench;

import java.util.List;
import java.util.Locale;

/**
 * Bars in panels, one under the other, each panel with a scale of its own: as SVG, which GitHub
 * shows. By hand, since Java's chart libraries draw through AWT, which a headless JRE lacks.
 */
final class BarChart {
    private static final int WIDTH = 860;
    private static final int LABEL = 270;
    private static final int VALUE = 170;
    private static final int BAR = 16;
    private static final int STEP = 20;
    private static final int HEAD = 34;
    private static final int TITLE = 44;

    private final StringBuilder body = new StringBuilder();
    private int y = TITLE;

    private BarChart(String title) {
        text(12, 26, 17, "start", "bold", title);
    }

    /**
     * @param least where a thin line begins that shows the spread
     * @param most where it ends
     * @param colour of SVG
     */
    record Bar(String label, double value, double least, double most, String colour) {}

    /** A panel. */
    record Panel(String title, List<Bar> bars) {}

    static String draw(String title, List<Panel> panels) {
        BarChart chart = new BarChart(title);
        panels.forEach(chart::panel);
        int height = chart.y + 10;
        return """
                <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif">
                <rect width="%d" height="%d" fill="white"/>
                %s</svg>
                """
                .formatted(WIDTH, height, WIDTH, height, chart.body);
    }

    private void panel(Panel panel) {
        text(12, y + 22, 14, "start", "bold", panel.title());
        y += HEAD;
        double most = panel.bars().stream().mapToDouble(Bar::most).max().orElse(1);
        double scale = (WIDTH - LABEL - VALUE) / Math.max(most, 1e-9);
        for (Bar bar : panel.bars()) {
            text(LABEL - 8, y + 12, 12, "end", "normal", bar.label());
            rect(LABEL, y, bar.value() * scale, BAR, bar.colour());
            rect(LABEL + bar.least() * scale, y + BAR / 2.0 - 0.75,
                    (bar.most() - bar.least()) * scale, 1.5, "#222");
            text(LABEL + (int) (bar.most() * scale) + 8, y + 12, 12, "start", "normal",
                    PeersMarkdown.number(bar.value()));
            y += STEP;
        }
        y += 6;
    }

    private void rect(double x, double top, double width, double height, String fill) {
        body.append(String.format(Locale.ROOT,
                "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>%n", x,
                top, Math.max(width, 1), height, fill));
    }

    private void text(int x, int base, int size, String anchor, String weight, String text) {
        body.append(String.format(Locale.ROOT,
                "<text x=\"%d\" y=\"%d\" font-size=\"%d\" text-anchor=\"%s\" font-weight=\"%s\">"
                        + "%s</text>%n",
                x, base, size, anchor, weight,
                text.replace("&", "&amp;").replace("<", "&lt;")));
    }
}
