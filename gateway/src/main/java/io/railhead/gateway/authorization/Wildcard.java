package io.railhead.gateway.authorization;

import io.railhead.gateway.request.RequestSource;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A pattern of a policy. A star matches any characters, slashes included; a question mark matches
 * one; a variable matches its value of the sender. Matching allocates nothing.
 *
 * @param literals with wildcards; a variable stands between each two
 */
record Wildcard(List<String> literals, List<Variable> variables) {
    private static final RequestSource NOBODY = RequestSource.anonymous(null, false);
    /** More variables than a path has parts; each costs time at every character. */
    private static final int MAX_VARIABLES = 4;
    /** Stand in literals for a star and a question mark that are no wildcards. */
    private static final char STAR = '\uE000';
    private static final char QUESTION_MARK = '\uE001';
    /** Beyond all characters: a wildcard of a literal, which no variable's value has. */
    private static final int ANY = 1 << 16;
    private static final int ONE = ANY + 1;

    Wildcard {
        literals = List.copyOf(literals);
        variables = List.copyOf(variables);
    }

    /** @throws IllegalArgumentException for a variable that is not known, or does not end */
    static Wildcard parse(String text) {
        return parse(text, false);
    }

    /** Parses {@code bucket/key}: no claim's value reaches from the bucket into the key. */
    static Wildcard parseResource(String text) {
        return parse(text, true);
    }

    private static Wildcard parse(String text, boolean isResource) {
        if (text.indexOf(STAR) >= 0 || text.indexOf(QUESTION_MARK) >= 0) {
            throw new IllegalArgumentException("'" + text + "' has a character for private use");
        }
        List<String> literals = new ArrayList<>();
        List<Variable> variables = new ArrayList<>();
        StringBuilder literal = new StringBuilder();
        int from = 0;
        for (int at = text.indexOf("${"); at >= 0; at = text.indexOf("${", from)) {
            int end = text.indexOf('}', at);
            String name = text.substring(at + 2, end < 0 ? text.length() : end);
            boolean inBucket = isResource && text.lastIndexOf('/', at) < 0;
            Variable variable = end < 0 ? null : Variable.named(name, inBucket);
            literal.append(text, from, at);
            from = end + 1;
            if (end >= 0 && appendEscape(literal, name)) {
                continue;
            }
            if (variable == null) {
                throw new IllegalArgumentException("'" + text + "': '" + name + "' is no variable;"
                        + " there are ${principal}, ${tenant}, ${claim:NAME}, ${*}, ${?} and ${$}");
            }
            literals.add(literal.toString());
            literal.setLength(0);
            variables.add(variable);
        }
        if (variables.size() > MAX_VARIABLES) {
            throw new IllegalArgumentException(
                    "'" + text + "' has more than " + MAX_VARIABLES + " variables");
        }
        literals.add(literal.append(text, from, text.length()).toString());
        return new Wildcard(literals, variables);
    }

    /** Appends the character that an escape stands for; false if the name is none's. */
    private static boolean appendEscape(StringBuilder literal, String name) {
        switch (name) {
            case "*" -> literal.append(STAR);
            case "?" -> literal.append(QUESTION_MARK);
            case "$" -> literal.append('$');
            default -> {
                return false;
            }
        }
        return true;
    }

    /** A pattern without variables. */
    static Wildcard of(String pattern) {
        return new Wildcard(List.of(pattern), List.of());
    }

    List<String> claims() {
        List<String> claims = new ArrayList<>();
        for (Variable variable : variables) {
            if (variable instanceof Variable.Claim claim) {
                claims.add(claim.path());
            }
        }
        return claims;
    }

    boolean hasWildcards() {
        return literals.stream().anyMatch(text -> text.indexOf('*') >= 0 || text.indexOf('?') >= 0);
    }

    /**
     * Returns whether the sender has a value for each variable. A pattern without one of its values
     * matches nothing.
     */
    boolean isKnownFor(RequestSource source) {
        for (int i = 0; i < variables.size(); i++) {
            if (variables.get(i).value(source).isEmpty()) {
                return false;
            }
        }
        return true;
    }

    /** Only for patterns without variables. */
    boolean matches(String text) {
        return matches(NOBODY, text, null);
    }

    /** Returns whether it matches {@code bucket/key}; without a key, {@code bucket}. */
    boolean matches(RequestSource source, String bucket, @Nullable String key) {
        if (!isKnownFor(source)) {
            return false;
        }
        int patternLength = length(source);
        int length = key == null ? bucket.length() : bucket.length() + 1 + key.length();
        int p = 0;
        int t = 0;
        int star = -1;
        int starText = 0;
        // Linear except for stars: at a mismatch, only the last star takes one more character.
        while (t < length) {
            int wanted = p < patternLength ? at(p, source) : -1;
            if (wanted == ANY) {
                star = p++;
                starText = t;
            } else if (wanted == ONE || wanted == charAt(bucket, key, t)) {
                p++;
                t++;
            } else if (star >= 0) {
                p = star + 1;
                t = ++starText;
            } else {
                return false;
            }
        }
        while (p < patternLength && at(p, source) == ANY) {
            p++;
        }
        return p == patternLength;
    }

    private int length(RequestSource source) {
        int length = 0;
        for (int i = 0; i < literals.size(); i++) {
            length += literals.get(i).length();
        }
        for (int i = 0; i < variables.size(); i++) {
            length += variables.get(i).value(source).length();
        }
        return length;
    }

    /** The pattern's character there, or {@link #ANY} or {@link #ONE}. */
    private int at(int index, RequestSource source) {
        int left = index;
        for (int i = 0;; i++) {
            String literal = literals.get(i);
            if (left < literal.length()) {
                char c = literal.charAt(left);
                return switch (c) {
                    case '*' -> ANY;
                    case '?' -> ONE;
                    case STAR -> '*';
                    case QUESTION_MARK -> '?';
                    default -> c;
                };
            }
            left -= literal.length();
            String value = variables.get(i).value(source);
            if (left < value.length()) {
                return value.charAt(left);
            }
            left -= value.length();
        }
    }

    private static char charAt(String bucket, @Nullable String key,
            int at) {
        if (key == null || at < bucket.length()) {
            return bucket.charAt(at);
        }
        return at == bucket.length() ? '/' : key.charAt(at - bucket.length() - 1);
    }
}
