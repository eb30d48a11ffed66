package io.railhead.gateway.request;

import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * A request's target in one of the two forms that RFC 9112 §3.2 allows for origin servers.
 *
 * @param authority of the absolute form, host and maybe port; null in the origin form
 * @param pathAndQuery begins with a slash
 */
public record RequestTarget(@Nullable String authority, String pathAndQuery) {
    private static final String HTTP = "http://";
    private static final String HTTPS = "https://";

    /**
     * Parses a target. Throws {@link IllegalArgumentException} on other forms, on userinfo, and on
     * an https target over a connection without TLS (RFC 9110 §7.4).
     *
     * @param secure whether the request came over TLS
     */
    public static RequestTarget parse(String target, boolean secure) {
        if (target.startsWith("/")) {
            return new RequestTarget(null, target);
        }
        int start = authorityStart(target);
        boolean misdirected = start == HTTPS.length() && !secure;
        int end = authorityEnd(target, start);
        if (start == 0 || misdirected || !isHost(target.substring(start, end))) {
            throw new IllegalArgumentException("the target must be a path or an http URL");
        }
        return new RequestTarget(target.substring(start, end), originForm(target));
    }

    /** Returns the path and query of any target, so that a log holds no userinfo; never throws. */
    public static String originForm(String target) {
        int start = authorityStart(target);
        if (start == 0) {
            return target;
        }
        String rest = target.substring(authorityEnd(target, start));
        return rest.startsWith("/") ? rest : "/" + rest;
    }

    private static int authorityStart(String target) {
        return target.regionMatches(true, 0, HTTP, 0, HTTP.length())
                ? HTTP.length()
                : target.regionMatches(true, 0, HTTPS, 0, HTTPS.length()) ? HTTPS.length() : 0;
    }

    private static int authorityEnd(String target, int start) {
        int end = start;
        while (end < target.length() && "/?#".indexOf(target.charAt(end)) < 0) {
            end++;
        }
        return end;
    }

    /**
     * Returns whether a text is a host: a name or an address, perhaps with a port (RFC 3986 §3.2.2,
     * without forms that nobody uses).
     */
    public static boolean isHost(String host) {
        boolean literal = host.startsWith("[");
        int end = literal ? host.indexOf(']') + 1 : host.indexOf(':');
        end = end < 0 ? host.length() : end;
        return end > 0
                && all(host, 0, end, c -> isNameCharacter(c)
                        || (literal && (c == '[' || c == ']' || c == ':')))
                && (end == host.length()
                        || (host.charAt(end) == ':'
                                && all(host, end + 1, host.length(), c -> c >= '0' && c <= '9')));
    }

    private static boolean all(String text, int from, int to, IntPredicate test) {
        for (int i = from; i < to; i++) {
            if (!test.test(text.charAt(i))) {
                return false;
            }
        }
        return true;
    }

    private static boolean isNameCharacter(int c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
                || "-._~%".indexOf(c) >= 0;
    }
}
