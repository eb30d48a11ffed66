package io.railhead.rdma.dialect;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/** Headers, one a line, as {@code name: value}: each known one is recognised, in one way. */
public final class TokenFuzz {
    private static final int TOKEN_CHARACTERS = 81;

    private TokenFuzz() {}

    public static void fuzzerTestOneInput(byte[] input) {
        Map<String, String> headers = new HashMap<>();
        for (String line : new String(input, ISO_8859_1).split("\n", -1)) {
            int colon = line.indexOf(':');
            if (colon > 0) {
                headers.put(line.substring(0, colon).toLowerCase(Locale.ROOT),
                        line.substring(colon + 1));
            }
        }
        for (Operation operation : Operation.values()) {
            switch (Dialects.recognise(operation, headers::get)) {
                case Recognition.None _ -> require(operation == Operation.OTHER
                        || !headers.containsKey(Dialects.TOKEN_HEADER));
                case Recognition.Accepted(_, String header, Token token) ->
                    accepted(headers.getOrDefault(header, "").strip(), token);
                case Recognition.Declined(Dialect dialect, String header, _) -> {
                    require(headers.containsKey(header));
                    for (PutDecline put : PutDecline.values()) {
                        dialect.decline(operation, put);
                    }
                }
                case Recognition.Malformed(_, String header, _) ->
                    require(headers.containsKey(header));
            }
        }
    }

    private static void accepted(String text, Token token) {
        Token whole = whole(text);
        if (text.length() == TOKEN_CHARACTERS) {
            require(token.equals(whole) && token.format().equals(text));
            return;
        }
        // Narrowed: the part lies in the whole.
        long offset = token.address() - whole.address();
        require(offset >= 0 && offset <= whole.length() - token.length());
        require(token.key() == whole.key() && token.session() == whole.session());
    }

    private static Token whole(String text) {
        if (TokenSyntax.parse(text.substring(0,
                TOKEN_CHARACTERS)) instanceof TokenSyntax.Parsed.Valid(Token token)) {
            return token;
        }
        throw new AssertionError("accepted with a malformed window: " + text);
    }

    private static void require(boolean kept) {
        if (!kept) {
            throw new AssertionError();
        }
    }
}
