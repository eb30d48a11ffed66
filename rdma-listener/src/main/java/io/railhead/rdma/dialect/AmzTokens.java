package io.railhead.rdma.dialect;

import io.railhead.rdma.dialect.TokenSyntax.Parsed;
import java.util.regex.Pattern;

/** The forms that meet in {@code x-amz-rdma-token}, told apart by their shape. */
final class AmzTokens {
    /** Longer than any known form, endpoint names of {@code ofi1} included. */
    static final int MAX_CHARACTERS = 1024;
    private static final Pattern HIPOBJ = Pattern
            .compile("[0-9a-fA-F]{88}(:[0-9a-fA-F]+:[0-9a-fA-F]+)?;?");

    private AmzTokens() {}

    static Recognition recognise(String token) {
        if (token.length() > MAX_CHARACTERS) {
            return new Recognition.Malformed(Dialect.AMZ, Dialects.TOKEN_HEADER,
                    "a token has at most " + MAX_CHARACTERS + " characters: " + token.length());
        }
        if (HIPOBJ.matcher(token).matches()) {
            return declined(Dialect.HIPOBJ, "hipobj");
        }
        if (token.startsWith("rc:")) {
            return declined(Dialect.AMZ, "rc");
        }
        if (isLibfabric(token)) {
            return declined(Dialect.AMZ, "ofi1");
        }
        return switch (TokenSyntax.parse(token)) {
            case Parsed.Valid(Token valid) when valid.isLoopback() ->
                new Recognition.Accepted(Dialect.AMZ, Dialects.TOKEN_HEADER, valid);
            case Parsed.Valid _ -> declined(Dialect.AMZ, "fabric");
            case Parsed.Invalid(String message) ->
                new Recognition.Malformed(Dialect.AMZ, Dialects.TOKEN_HEADER, message);
        };
    }

    private static boolean isLibfabric(String token) {
        String[] fields = token.split(":", 4);
        return fields.length == 4 && fields[2].equals("ofi1");
    }

    private static Recognition declined(Dialect dialect, String reason) {
        return new Recognition.Declined(dialect, Dialects.TOKEN_HEADER, reason);
    }
}
