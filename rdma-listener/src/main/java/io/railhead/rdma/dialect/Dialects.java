package io.railhead.rdma.dialect;

import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The table of dialects. Every known token header is recognised; each is accepted or refused. */
public final class Dialects {
    /** The header that carries a served token. */
    public static final String TOKEN_HEADER = "x-amz-rdma-token";

    /**
     * Headers whose presence alone names a dialect that is not served. The first two travel beside
     * a {@code x-amz-rdma-token} of their own, so they are looked for before it.
     */
    private static final List<Refused> REFUSED = List.of(
            new Refused("x-amz-rdma-protocol", Dialect.HIPOBJ, "hipobj"),
            new Refused("x-amz-rdma-cookie", Dialect.HIPOBJ, "hipobj"),
            new Refused("x-rdma-info", Dialect.RDMA_INFO, "rdma-info"),
            new Refused("x-cuobj-rdma-descr", Dialect.CUOBJ, "cuobj"),
            new Refused("x-cuobj-content-length", Dialect.CUOBJ, "cuobj"),
            new Refused("x-cuobj-remote-buf-start", Dialect.CUOBJ, "cuobj"),
            new Refused("x-amz-meta-rdma-token", Dialect.META, "meta"),
            new Refused("x-scal-rdma", Dialect.SCALITY, "scality"));

    private record Refused(String header, Dialect dialect, String reason) {}

    private Dialects() {}

    /**
     * Looks for a token on an operation. Only those that move an object's bytes know tokens:
     * everything else is an ordinary request, whatever its headers say.
     *
     * @param header a request header's value by lower-case name, or null
     */
    public static Recognition recognise(Operation operation,
            Function<String, @Nullable String> header) {
        return operation == Operation.OTHER ? new Recognition.None() : recognise(header);
    }

    /**
     * Looks for a token.
     *
     * @param header a request header's value by lower-case name, or null
     */
    public static Recognition recognise(Function<String, @Nullable String> header) {
        for (Refused refused : REFUSED) {
            if (header.apply(refused.header()) != null) {
                return new Recognition.Declined(refused.dialect(), refused.header(),
                        refused.reason());
            }
        }
        String token = header.apply(TOKEN_HEADER);
        return token == null ? new Recognition.None() : AmzTokens.recognise(token.strip());
    }
}
