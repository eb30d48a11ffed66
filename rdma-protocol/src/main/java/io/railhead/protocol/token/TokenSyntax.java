package io.railhead.protocol.token;

import static java.lang.Integer.parseUnsignedInt;
import static java.lang.Long.parseUnsignedLong;

import java.util.List;

/**
 * Parses the descriptor {@code <81 characters>[:<address 16>:<size 16>[;]]}, as strictly as clients
 * print it. The suffix selects a part of the window, to which the result is narrowed.
 */
final class TokenSyntax {
    private static final int[] WIDTHS = {16, 8, 8, 4, 6, 1, 32};
    private static final int SUFFIX_WIDTH = 16;
    /** Longer than every known form, endpoint names of {@code ofi1} included. */
    static final int MAX_CHARACTERS = 1024;
    static final String OUTSIDE = "address and size must lie within the window";

    private TokenSyntax() {}

    /** The result of parsing a text. */
    sealed interface Parsed {

        record Valid(Token token) implements Parsed {}

        record Invalid(String message) implements Parsed {}
    }

    /** @param headers the headers with the token, its own first */
    static Recognition recognise(Dialect dialect, List<String> headers, String text) {
        return switch (parse(text)) {
            case Parsed.Valid(Token token) -> new Recognition.Accepted(dialect, headers, token);
            case Parsed.Invalid(String message) -> new Recognition.Malformed(dialect, message);
        };
    }

    static Parsed parse(String text) {
        if (text.length() > MAX_CHARACTERS) {
            return new Parsed.Invalid(
                    "a token has at most " + MAX_CHARACTERS + " characters: " + text.length());
        }
        String trimmed = text.endsWith(";") ? text.substring(0, text.length() - 1) : text;
        String[] fields = trimmed.split(":", -1);
        boolean suffixed = fields.length == WIDTHS.length + 2;
        if (fields.length != WIDTHS.length && !suffixed) {
            return new Parsed.Invalid("a token has 7 fields: " + fields.length);
        }
        if (!suffixed && trimmed.length() != text.length()) {
            return new Parsed.Invalid("only a token with address and size may end in ';'");
        }
        for (int i = 0; i < fields.length; i++) {
            int width = i < WIDTHS.length ? WIDTHS[i] : SUFFIX_WIDTH;
            if (fields[i].length() != width || !Hex.isLowerCase(fields[i])) {
                return new Parsed.Invalid(
                        "field " + (i + 1) + " must be " + width + " lower-case hex digits");
            }
        }
        return suffixed ? narrowed(fields) : window(fields);
    }

    private static Parsed window(String[] fields) {
        long address = parseUnsignedLong(fields[0], 16);
        long length = parseUnsignedLong(fields[1], 16);
        boolean hasGid = fields[5].equals("1");
        if (!hasGid && !fields[5].equals("0")) {
            return new Parsed.Invalid("field 6 must be 0 or 1");
        }
        if (hasGid && fields[6].equals(Token.NO_GID)) {
            return new Parsed.Invalid("field 6 announces a GID and field 7 has none");
        }
        if (length == 0) {
            return new Parsed.Invalid("the window must not be empty");
        }
        if (Long.compareUnsigned(address + length - 1, address) < 0) {
            return new Parsed.Invalid("the window must not wrap around the address space");
        }
        return new Parsed.Valid(new Token(address, length, parseUnsignedInt(fields[2], 16),
                parseUnsignedInt(fields[3], 16), parseUnsignedInt(fields[4], 16),
                hasGid ? fields[6] : Token.NO_GID));
    }

    private static Parsed narrowed(String[] fields) {
        if (!(window(fields) instanceof Parsed.Valid(Token window))) {
            return window(fields);
        }
        Token part = window.narrowedTo(parseUnsignedLong(fields[7], 16),
                parseUnsignedLong(fields[8], 16));
        return part == null ? new Parsed.Invalid(OUTSIDE) : new Parsed.Valid(part);
    }
}
