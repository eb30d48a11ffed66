package io.railhead.gateway.config;

import java.util.Collection;
import org.jspecify.annotations.Nullable;

/** Guesses the intended word. */
final class DidYouMean {
    private DidYouMean() {}

    /** Returns the known word with the fewest edits; null if none is near. */
    static @Nullable String nearest(String word, Collection<String> known) {
        String nearest = null;
        int best = Math.max(2, word.length() / 3) + 1;
        for (String candidate : known) {
            int distance = distance(word, candidate);
            if (distance < best) {
                best = distance;
                nearest = candidate;
            }
        }
        return nearest;
    }

    /** Returns the Levenshtein distance, computed row by row. */
    private static int distance(String a, String b) {
        int[] row = new int[b.length() + 1];
        for (int j = 0; j <= b.length(); j++) {
            row[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int replace = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(replace, Math.min(row[j], row[j - 1]) + 1);
            }
        }
        return row[b.length()];
    }
}
