package io.railhead.protocol.token;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Headers, one a line, as {@code name: value}: each known one is recognised, in one way. */
public final class TokenFuzz {
    private static final int TOKEN_CHARACTERS = 81;
    private static final int GID_FLAG = 47;
    private static final List<Dialects> TABLES = List.of(DialectsTest.USUAL, DialectsTest.ALL);

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
        for (TokenOperation tokenOperation : TokenOperation.values()) {
            for (Dialects dialects : TABLES) {
                switch (dialects.recognise(tokenOperation, headers::get)) {
                    case Recognition.None _ -> require(tokenOperation == TokenOperation.OTHER
                            || headers.keySet().stream().noneMatch(TokenFuzz::asks));
                    case Recognition.Accepted(Dialect dialect, List<String> said, Token token) -> {
                        require(headers.keySet().containsAll(said));
                        if (!dialect.name().equals("cuobj")) {
                            accepted(headers.getOrDefault(said.getFirst(), "").strip(), token);
                        }
                    }
                    case Recognition.Paired(_, List<String> said, RcToken token) -> require(token
                            .format()
                            .equals(headers.getOrDefault(said.getFirst(), "").strip()));
                    case Recognition.Declined(Dialect dialect, _) ->
                        dialect.decline(tokenOperation);
                    case Recognition.Malformed(Dialect dialect, _) ->
                        dialect.decline(tokenOperation);
                }
            }
        }
    }

    private static boolean asks(String header) {
        return header.equals("x-amz-rdma-token") || header.equals("x-rdma-info")
                || header.equals("x-amz-meta-rdma-token");
    }

    private static void accepted(String text, Token token) {
        Token whole = whole(text);
        if (text.length() == TOKEN_CHARACTERS) {
            boolean ignoresGid = text.charAt(GID_FLAG) == '0';
            require(token.equals(whole) && (ignoresGid || token.format().equals(text)));
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
