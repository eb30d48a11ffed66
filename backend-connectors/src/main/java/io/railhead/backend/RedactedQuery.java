package io.railhead.backend;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A query for logs. A reader of the log must not be able to use, or to identify, the signature.
 * Signatures, credentials and tokens of SigV4, SigV2 and the Security Token Service lose their
 * values, however their names are percent-encoded.
 */
public final class RedactedQuery {
    private static final Set<String> SECRET = Set.of("x-amz-signature", "x-amz-credential",
            "x-amz-security-token", "signature", "awsaccesskeyid", "webidentitytoken");
    private static final String HIDDEN = "****";
    /**
     * The most nested encodings that are removed: a server behind the gateway may decode once more.
     */
    private static final int MAX_DECODINGS = 4;

    private RedactedQuery() {}

    /** @param rawQuery without the question mark; null for none */
    public static String of(@Nullable String rawQuery) {
        if (rawQuery == null) {
            return "";
        }
        List<String> shown = new ArrayList<>();
        for (String parameter : rawQuery.split("&", -1)) {
            shown.add(parameter(parameter));
        }
        return String.join("&", shown);
    }

    private static String parameter(String parameter) {
        int equals = parameter.indexOf('=');
        String name = equals < 0 ? parameter : parameter.substring(0, equals);
        if (isSecret(name)) {
            return equals < 0 ? HIDDEN : name + '=' + HIDDEN;
        }
        // An equals sign may be encoded too, and a value may contain a whole query.
        return equals >= 0 && namesSecret(parameter.substring(equals + 1))
                ? name + '=' + HIDDEN
                : parameter;
    }

    private static boolean isSecret(String name) {
        String decoded = name;
        for (int i = 0; i < MAX_DECODINGS; i++) {
            String lower = decoded.strip().toLowerCase(Locale.ROOT);
            if (SECRET.stream()
                    .anyMatch(secret -> lower.equals(secret)
                            || lower.startsWith(secret + '='))) {
                return true;
            }
            decoded = decode(decoded);
        }
        return false;
    }

    private static boolean namesSecret(String value) {
        String decoded = value;
        for (int i = 0; i < MAX_DECODINGS; i++) {
            String lower = decoded.toLowerCase(Locale.ROOT);
            if (SECRET.stream().anyMatch(secret -> lower.contains(secret + '='))) {
                return true;
            }
            decoded = decode(decoded);
        }
        return false;
    }

    /** Returns malformed text unchanged: no server can decode it either. */
    private static String decode(String text) {
        try {
            return URLDecoder.decode(text, StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            return text;
        }
    }
}
