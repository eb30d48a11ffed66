package io.railhead.gateway.config;

/** Patterns of the configuration, in which a star matches any characters. */
public final class Globs {

    private Globs() {}

    /**
     * Returns whether the whole text matches. Linear except for stars: at a mismatch, only the last
     * star takes one more character.
     */
    public static boolean matches(String glob, String text) {
        int g = 0;
        int t = 0;
        int star = -1;
        int starText = 0;
        while (t < text.length()) {
            if (g < glob.length() && glob.charAt(g) == '*') {
                star = g++;
                starText = t;
            } else if (g < glob.length() && glob.charAt(g) == text.charAt(t)) {
                g++;
                t++;
            } else if (star >= 0) {
                g = star + 1;
                t = ++starText;
            } else {
                return false;
            }
        }
        while (g < glob.length() && glob.charAt(g) == '*') {
            g++;
        }
        return g == glob.length();
    }
}
