package io.railhead.os;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A file of {@code name value} or {@code name: value} lines, as /proc and control groups have them;
 * callers know the units. A missing file has no fields.
 */
record ProcFields(Map<String, String> values) {
    static final Path MEMINFO = Path.of("/proc/meminfo");

    static ProcFields read(Path file) {
        return parse(lines(file));
    }

    static ProcFields parse(List<String> lines) {
        Map<String, String> values = new HashMap<>();
        for (String line : lines) {
            String[] words = line.trim().split("[:\\s]+", 3);
            if (words.length >= 2) {
                values.put(words[0], words[1]);
            }
        }
        return new ProcFields(values);
    }

    static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (NoSuchFileException e) {
            return List.of();
        } catch (IOException e) {
            // Control files of a group that is being removed fail to read, although they exist.
            return List.of();
        }
    }

    long number(String name, long otherwise) {
        String value = values.get(name);
        return value == null ? otherwise : Long.parseLong(value);
    }

    long hex(String name) {
        String value = values.get(name);
        return value == null ? 0 : Long.parseUnsignedLong(value, 16);
    }
}
