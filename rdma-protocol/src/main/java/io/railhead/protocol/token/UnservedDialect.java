package io.railhead.protocol.token;

import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A dialect that is recognised and never served. Ignoring its header on an upload would store an
 * empty object in place of the client's memory.
 *
 * @param name also the reason of its decline
 * @param headers lower-case names, any of which identifies it
 */
record UnservedDialect(String name, List<String> headers) implements Dialect {
    /** The dialect of Dell's storage performance tool up to version 5.2. */
    static final Dialect META = new UnservedDialect("meta", List.of("x-amz-meta-rdma-token"));
    /** Scality's dialect, which shares only the header with S3. */
    static final Dialect SCALITY = new UnservedDialect("scality", List.of("x-scal-rdma"));
    static final Dialect RDMA_INFO = new UnservedDialect("rdma_info",
            List.of(RdmaInfoDialect.INFO));
    static final Dialect CUOBJ = new UnservedDialect("cuobj", List.of(CuobjDialect.DESCRIPTOR,
            CuobjDialect.LENGTH, CuobjDialect.START));

    @Override
    public @Nullable Recognition recognise(Function<String, @Nullable String> header) {
        for (String known : headers) {
            if (header.apply(known) != null) {
                return new Recognition.Declined(this, name);
            }
        }
        return null;
    }

    @Override
    public Decline decline(TokenOperation tokenOperation) {
        return Decline.ERROR;
    }
}
