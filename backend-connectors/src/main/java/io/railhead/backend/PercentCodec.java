package io.railhead.backend;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * Percent-encoding of paths and queries in SigV4's form: upper-case, and all but the unreserved
 * characters are encoded. A plus sign stays one unless a method says otherwise. Malformed escapes
 * throw {@link IllegalArgumentException}.
 */
public final class PercentCodec {
    private static final HexFormat HEX = HexFormat.of().withUpperCase();
    private static final String MALFORMED = "a percent sign must be followed by two hex digits";

    private PercentCodec() {}

    /** Decodes UTF-8 text; other bytes are refused, since two names must not become one. */
    public static String decodeName(String raw) {
        if (raw.indexOf('%') < 0) {
            return raw;
        }
        try {
            return UTF_8.newDecoder().decode(ByteBuffer.wrap(decode(raw, false))).toString();
        } catch (CharacterCodingException e) {
            throw new IllegalArgumentException("a name must be UTF-8", e);
        }
    }

    /** Decodes ASCII text to bytes, each as one char. */
    public static String decodeBytes(String ascii) {
        return ascii.indexOf('%') < 0 ? ascii : new String(decode(ascii, false), ISO_8859_1);
    }

    /** Decodes to bytes; a percent sign without two digits stands for itself. */
    public static byte[] decodeLeniently(String raw) {
        return decode(raw, true);
    }

    private static byte[] decode(String raw, boolean isLenient) {
        byte[] in = raw.getBytes(UTF_8);
        byte[] out = new byte[in.length];
        int length = 0;
        for (int i = 0; i < in.length; i++) {
            if (in[i] != '%') {
                out[length++] = in[i];
            } else if (i + 2 < in.length && HexFormat.isHexDigit(in[i + 1])
                    && HexFormat.isHexDigit(in[i + 2])) {
                out[length++] = (byte) value(in[i + 1], in[i + 2]);
                i += 2;
            } else if (isLenient) {
                out[length++] = in[i];
            } else {
                throw new IllegalArgumentException(MALFORMED);
            }
        }
        return Arrays.copyOf(out, length);
    }

    /** Escapes the non-ASCII bytes of text from the wire, where each char is one byte. */
    public static String ascii(String wire) {
        if (wire.chars().allMatch(c -> c < 0x80)) {
            return wire;
        }
        StringBuilder escaped = new StringBuilder(wire.length() + 16);
        for (int i = 0; i < wire.length(); i++) {
            char c = wire.charAt(i);
            if (c < 0x80) {
                escaped.append(c);
            } else {
                append(escaped, c);
            }
        }
        return escaped.toString();
    }

    /** Encodes the text's UTF-8, slashes included. */
    public static String encode(String text) {
        return encode(text.getBytes(UTF_8), false);
    }

    /** Encodes the path's UTF-8, except slashes. */
    public static String encodePath(String path) {
        return encodePath(path.getBytes(UTF_8));
    }

    /** Encodes a path's bytes, except slashes. */
    public static String encodePath(byte[] path) {
        return encode(path, true);
    }

    private static String encode(byte[] bytes, boolean keepsSlashes) {
        StringBuilder out = new StringBuilder(bytes.length + 16);
        for (byte b : bytes) {
            if (b == '/' && keepsSlashes) {
                out.append('/');
            } else {
                append(out, Byte.toUnsignedInt(b));
            }
        }
        return out.toString();
    }

    /**
     * Returns the path with each byte in SigV4's form, whichever form the client chose: encoded
     * bytes are decoded and encoded again. Each char is one byte. Nothing is normalised: dots,
     * empty segments and {@code %2F} stay, since they name different keys.
     */
    public static String canonicalPath(String raw) {
        return canonical(raw, true);
    }

    /** Returns the same form of a query's name or value, where a plus sign is a space. */
    public static String canonicalQueryPart(String raw) {
        return canonical(raw, false);
    }

    private static String canonical(String raw, boolean isPath) {
        int plain = 0;
        while (plain < raw.length() && (isUnreserved(raw.charAt(plain))
                || (isPath && raw.charAt(plain) == '/'))) {
            plain++;
        }
        if (plain == raw.length()) {
            return raw;
        }
        StringBuilder out = new StringBuilder(raw.length() + 16).append(raw, 0, plain);
        for (int i = plain; i < raw.length(); i++) {
            char c = raw.charAt(i);
            if (c == '/' && isPath) {
                out.append('/');
            } else if (c == '%') {
                append(out, byteAt(raw, i));
                i += 2;
            } else {
                append(out, c == '+' && !isPath ? ' ' : c);
            }
        }
        return out.toString();
    }

    private static int byteAt(String raw, int percent) {
        if (percent + 2 >= raw.length() || !HexFormat.isHexDigit(raw.charAt(percent + 1))
                || !HexFormat.isHexDigit(raw.charAt(percent + 2))) {
            throw new IllegalArgumentException(MALFORMED);
        }
        return value(raw.charAt(percent + 1), raw.charAt(percent + 2));
    }

    private static int value(int high, int low) {
        return HexFormat.fromHexDigit(high) << 4 | HexFormat.fromHexDigit(low);
    }

    private static void append(StringBuilder out, int c) {
        if (isUnreserved(c)) {
            out.append((char) c);
        } else if (c <= 0xFF) {
            HEX.toHexDigits(out.append('%'), (byte) c);
        } else {
            throw new IllegalArgumentException("no byte is " + c);
        }
    }

    private static boolean isUnreserved(int c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
                || c == '-' || c == '.' || c == '_' || c == '~';
    }
}
