package io.railhead.gateway.identity;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

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

    /** @throws IllegalArgumentException for a variable that does not end */
    static ClaimTemplate parse(String text) {
        List<String> paths = new ArrayList<>();
        Matcher matcher = VARIABLE.matcher(text);
        while (matcher.find()) {
            paths.add(matcher.group(1));
        }
        if (matcher.replaceAll("").contains("${") || paths.contains("")) {
            throw new IllegalArgumentException("'" + text + "' must name claims as ${CLAIM}");
        }
        return new ClaimTemplate(text, paths);
    }

    boolean hasClaims() {
        return !paths.isEmpty();
    }

    /** @param claims with each of {@link #paths} */
    String resolve(Map<String, String> claims) {
        return VARIABLE.matcher(text)
                .replaceAll(found -> Matcher.quoteReplacement(claims.get(found.group(1))));
    }
}
