package io.railhead.cli.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A page of which one part, between two markers, is written by the bench. */
record DocsPage(Path file, String name) {

    void write(String text) throws IOException {
        Files.writeString(file, replaced(Files.readString(file), text));
    }

    String replaced(String page, String text) throws IOException {
        String begin = "<!-- " + name + ": written by the bench -->\n";
        String end = "<!-- " + name + ": end -->";
        int from = page.indexOf(begin);
        int to = page.indexOf(end, Math.max(0, from));
        if (from < 0 || to < 0) {
            throw new IOException(file + " lacks the lines " + begin.strip() + " and " + end);
        }
        return page.substring(0, from + begin.length()) + "\n" + text.strip() + "\n\n"
                + page.substring(to);
    }
}
