package io.railhead.benchmarks.pagesize;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** The assumed content of a rack's cache: {@code reference-mix.csv}. */
record ReferenceMix(List<Kind> kinds) {
    private static final String FILE = "reference-mix.csv";
    private static final String HEADER = "size_bytes,count,what";

    /** Objects of one size. */
    record Kind(long sizeBytes, long count, String what) {

        Kind {
            if (sizeBytes <= 0 || count <= 0) {
                throw new IllegalArgumentException(
                        "size_bytes and count must be > 0: " + sizeBytes + ", " + count);
            }
        }
    }

    ReferenceMix {
        kinds = List.copyOf(kinds);
    }

    static ReferenceMix read() {
        try (BufferedReader in = new BufferedReader(new InputStreamReader(
                Objects.requireNonNull(ReferenceMix.class.getResourceAsStream(FILE), FILE),
                StandardCharsets.UTF_8))) {
            return parse(in.lines().toList());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static ReferenceMix parse(List<String> lines) {
        List<String> rows = lines.stream().filter(line -> !line.startsWith("#")).toList();
        if (rows.isEmpty() || !rows.getFirst().equals(HEADER)) {
            throw new IllegalArgumentException("the first row must be " + HEADER);
        }
        List<Kind> kinds = new ArrayList<>();
        for (String row : rows.subList(1, rows.size())) {
            String[] fields = row.split(",", -1);
            if (fields.length != 3) {
                throw new IllegalArgumentException("a row must have three fields: " + row);
            }
            kinds.add(new Kind(Long.parseLong(fields[0]), Long.parseLong(fields[1]), fields[2]));
        }
        return new ReferenceMix(kinds);
    }
}
