package io.railhead.gateway.identity;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A name made of claims, such as <code>${kubernetes.io/namespace}</code>.
 *
 * @param text as the file has it
 * @param paths the claims that it names
 */
record ClaimTemplate(String text, List<String> paths) {
    private static final Pattern VARIABLE = Pattern.compile("\\$\\{([^}]*)}");

    ClaimTemplate {
        paths = List.copyOf(paths);
    }

    /** @throws IllegalArgumentException for a variable that does not end, or claims side by side */
    static ClaimTemplate parse(String text) {
        List<String> paths = new ArrayList<>();
        Matcher matcher = VARIABLE.matcher(text);
        while (matcher.find()) {
            paths.add(matcher.group(1));
        }
        if (text.contains("}${")) {
            throw new IllegalArgumentException("'" + text
                    + "' needs a character between two claims, or it could mean several");
        }
        if (matcher.replaceAll("").contains("${") || paths.contains("")) {
            throw new IllegalArgumentException("'" + text + "' must name claims as ${CLAIM}");
        }
        return new ClaimTemplate(text, paths);
    }

    boolean hasClaims() {
        return !paths.isEmpty();
    }

    /**
     * Returns the claim whose value holds the character that parts it from the next claim; null if
     * there is none. Two other values could make the same name.
     */
    @Nullable
    String ambiguous(Map<String, String> claims) {
        Matcher matcher = VARIABLE.matcher(text);
        int count = 0;
        while (matcher.find()) {
            boolean isLast = ++count == paths.size();
            if (!isLast && claims.getOrDefault(matcher.group(1), "")
                    .indexOf(text.charAt(matcher.end())) >= 0) {
                return matcher.group(1);
            }
        }
        return null;
    }

    /** @param claims with each of {@link #paths} */
    String resolve(Map<String, String> claims) {
        return VARIABLE.matcher(text)
                .replaceAll(found -> Matcher.quoteReplacement(claims.get(found.group(1))));
    }
}
