package io.railhead.protocol.token;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * {@code x-amz-rdma-token}: used by cuObject and clients built on it, MinIO's SDKs, NIXL and
 * Railhead's own client.
 */
final class AmzDialect implements Dialect {
    static final String TOKEN = "x-amz-rdma-token";

    private final PutDecline putDecline;
    private final boolean servesPaired;

    /** @param servesPaired whether tokens of paired queue pairs are served */
    AmzDialect(PutDecline putDecline, boolean servesPaired) {
        this.putDecline = putDecline;
        this.servesPaired = servesPaired;
    }

    @Override
    public String name() {
        return "amz";
    }

    @Override
    public @Nullable Recognition recognise(Function<String, @Nullable String> header) {
        String value = header.apply(TOKEN);
        if (value == null) {
            return null;
        }
        String token = value.strip();
        if (token.length() <= TokenSyntax.MAX_CHARACTERS) {
            if (token.startsWith(RcToken.PREFIX)) {
                return servesPaired ? paired(token) : new Recognition.Declined(this, "rc");
            }
            if (isLibfabric(token)) {
                return new Recognition.Declined(this, "ofi1");
            }
            if (isBase64(token)) {
                return new Recognition.Declined(this, "base64");
            }
        }
        return TokenSyntax.recognise(this, List.of(TOKEN), token);
    }

    private Recognition paired(String token) {
        try {
            return new Recognition.Paired(this, List.of(TOKEN), RcToken.parse(token));
        } catch (IllegalArgumentException e) {
            return new Recognition.Malformed(this, String.valueOf(e.getMessage()));
        }
    }

    /** Recognises Ceph's token: base, size, {@code ofi1}, provider, endpoint, key. */
    private static boolean isLibfabric(String token) {
        String[] fields = token.split(":", 4);
        return fields.length == 4 && fields[2].equals("ofi1");
    }

    /** Recognises the token of sirius-db's benchmark: base64, on requests without a signature. */
    private static boolean isBase64(String token) {
        try {
            String decoded = new String(Base64.getDecoder().decode(token), ISO_8859_1);
            return TokenSyntax.parse(decoded) instanceof TokenSyntax.Parsed.Valid;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    /**
     * Returns the decline. A read's object goes into the body of an ordinary response. An upload's
     * bytes are still in the client's memory, so only an error is safe.
     */
    @Override
    public Decline decline(TokenOperation tokenOperation) {
        if (tokenOperation == TokenOperation.GET || tokenOperation == TokenOperation.OTHER) {
            return new Decline.ServeInline();
        }
        int status = switch (putDecline) {
            case ERROR -> Decline.NOT_IMPLEMENTED;
            case DRAFT -> 200;
        };
        return new Decline.Answer(status,
                Map.of(DialectReply.STATUS, "" + Decline.NOT_IMPLEMENTED));
    }
}
