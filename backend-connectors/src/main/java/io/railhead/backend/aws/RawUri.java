package io.railhead.backend.aws;

import io.railhead.backend.PercentCodec;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Paths and queries in the one form from which both ends compute the same signature. A key's bytes
 * never change: no slash is merged, no dot segment resolved. Only a byte's encoding may change
 * ({@code %7e} becomes {@code ~}, {@code (} becomes {@code %28}). Some stores verify the received
 * form, others their own canonical one; the official clients send this form.
 */
final class RawUri {
    /** RFC 3986's {@code path-absolute}. */
    private static final Pattern SENDABLE = Pattern
            .compile("/(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})*");

    private RawUri() {}

    /** Returns the path with each byte in SigV4's form; slashes stay. */
    static String canonicalPath(String raw) {
        return PercentCodec.encodePath(PercentCodec.decodeLeniently(raw));
    }

    /** Returns the path unchanged if it is valid in HTTP, else its canonical form. */
    static String unchangedPath(String raw) {
        return SENDABLE.matcher(raw).matches() ? raw : canonicalPath(raw);
    }

    /**
     * Returns the query with its question mark, in SigV4's form; "" without one. A parameter
     * without an equals sign stays so. A plus is a space, as stores read it.
     *
     * @throws IllegalArgumentException on bytes that are not UTF-8, which no store accepts
     */
    static String canonicalQuery(@Nullable String raw) {
        if (raw == null || raw.isEmpty()) {
            return "";
        }
        StringBuilder query = new StringBuilder(raw.length() + 16);
        for (String part : raw.split("&", -1)) {
            int equals = part.indexOf('=');
            String name = text(equals < 0 ? part : part.substring(0, equals));
            if (!name.isEmpty()) {
                query.append(query.isEmpty() ? '?' : '&').append(PercentCodec.encode(name));
                if (equals >= 0) {
                    query.append('=').append(PercentCodec.encode(text(part.substring(equals + 1))));
                }
            }
        }
        return query.toString();
    }

    private static String text(String encoded) {
        try {
            return StandardCharsets.UTF_8.newDecoder()
                    .decode(ByteBuffer.wrap(PercentCodec.decodeLeniently(
                            encoded.replace('+', ' '))))
                    .toString();
        } catch (CharacterCodingException e) {
            throw new IllegalArgumentException("query must be UTF-8: " + encoded, e);
        }
    }
}
