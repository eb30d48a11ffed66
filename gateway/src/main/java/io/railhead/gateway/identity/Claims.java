package io.railhead.gateway.identity;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The claims of a verified token. A path names a claim within others, as in
 * {@code kubernetes.io/namespace}; a claim's own name may hold slashes.
 */
public final class Claims {
    private final Map<String, ?> claims;

    /** @param claims the values are texts, numbers, flags, lists and maps of these */
    public Claims(Map<String, ?> claims) {
        this.claims = claims;
    }

    /** Returns the claim's texts: each of a list, one of a scalar, none if it is absent. */
    List<String> values(String path) {
        return values(claims, path);
    }

    private static List<String> values(Map<?, ?> claims, String path) {
        if (claims.containsKey(path)) {
            return texts(claims.get(path));
        }
        for (int slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', slash + 1)) {
            if (claims.get(path.substring(0, slash)) instanceof Map<?, ?> inner) {
                return values(inner, path.substring(slash + 1));
            }
        }
        return List.of();
    }

    private static List<String> texts(@Nullable Object value) {
        if (value == null) {
            return List.of();
        }
        List<String> texts = new ArrayList<>();
        for (Object element : value instanceof List<?> list ? list : List.of(value)) {
            if (element instanceof String || element instanceof Number
                    || element instanceof Boolean) {
                texts.add(element.toString());
            }
        }
        return texts;
    }
}
