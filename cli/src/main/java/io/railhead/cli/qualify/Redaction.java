package io.railhead.cli.qualify;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Removes texts that identify a machine's owner: addresses and given names. */
final class Redaction {
    private static final Pattern MAC = Pattern
            .compile("\\b(?:[0-9a-fA-F]{2}:){5,}[0-9a-fA-F]{2}\\b");
    /** Matches IPv6 addresses, and GIDs and GUIDs, which look alike. */
    private static final Pattern GROUPS = Pattern.compile(
            "(?<![\\w:])(?:[0-9a-fA-F]{0,4}:){2,7}(?:\\d+(?:\\.\\d+){3}|[0-9a-fA-F]{1,4})?(?:%\\w+)?(?![\\w:])");
    private static final Pattern IPV4 = Pattern
            .compile("(?<![\\w.])\\d{1,3}(?:\\.\\d{1,3}){3}(?![\\w.])");
    private static final int SHORTEST_NAME = 3;

    private final List<String> names;

    /**
     * @param names of host, user and folders; names below three letters stay, since other words
     *            contain them
     */
    Redaction(List<String> names) {
        this.names = names.stream()
                .filter(name -> name.length() >= SHORTEST_NAME)
                .distinct()
                .sorted((a, b) -> Integer.compare(b.length(), a.length()))
                .toList();
    }

    String of(String text) {
        String kept = text;
        for (String name : names) {
            kept = kept.replaceAll("(?<!\\w)" + Pattern.quote(name) + "(?!\\w)",
                    Matcher.quoteReplacement("<name>"));
        }
        for (Pattern address : List.of(MAC, GROUPS, IPV4)) {
            kept = address.matcher(kept).replaceAll("<address>");
        }
        return kept;
    }
}
