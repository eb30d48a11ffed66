package io.railhead.gateway.events;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.railhead.gateway.identity.Secret;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The secret that a store sends with its events. It comes as {@code Authorization: Bearer TOKEN},
 * as the token alone, or as the password of Basic with any user. Any thread.
 */
public final class EventToken {
    private static final int MIN_LENGTH = 16;

    private volatile @Nullable Secret token;

    /**
     * Replaces the secret by the content of {@code gateway.events.token_file}; throws one line if
     * the file holds none.
     */
    public void replace(List<byte[]> contents) {
        token = parse(contents);
    }

    private static Secret parse(List<byte[]> contents) {
        String text = new String(contents.getFirst(), UTF_8).strip();
        if (text.length() < MIN_LENGTH || text.chars().anyMatch(c -> c <= ' ' || c > '~')) {
            throw new IllegalArgumentException("gateway.events.token_file: must hold one token of"
                    + " at least " + MIN_LENGTH + " printable characters without blanks");
        }
        return new Secret(text);
    }

    /** @param authorization the header; null if it is missing */
    boolean isProvedBy(@Nullable String authorization) {
        Secret expected = token;
        if (authorization == null || expected == null) {
            return false;
        }
        int blank = authorization.indexOf(' ');
        String scheme = blank < 0 ? "" : authorization.substring(0, blank);
        String rest = authorization.substring(blank + 1).strip();
        return switch (scheme.toLowerCase(Locale.ROOT)) {
            case "", "bearer" -> expected.matches(rest);
            case "basic" -> expected.matches(password(rest));
            default -> false;
        };
    }

    private static String password(String encoded) {
        try {
            String pair = new String(Base64.getDecoder().decode(encoded), UTF_8);
            return pair.substring(pair.indexOf(':') + 1);
        } catch (IllegalArgumentException e) {
            return "";
        }
    }
}
