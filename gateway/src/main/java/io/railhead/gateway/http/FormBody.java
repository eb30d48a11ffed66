package io.railhead.gateway.http;

import io.railhead.gateway.s3.body.BodyReader;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** A body whose first bytes have been read already, and perhaps rewritten. */
public final class FormBody extends RequestBody {
    private @Nullable ByteBuffer beginning;

    /** @param beginning sent before the rest of the body; its content must not change */
    public FormBody(HttpExchange httpExchange, BodyReader reader, ByteBuffer beginning) {
        super(httpExchange, reader);
        this.beginning = beginning;
    }

    /** Does nothing: the first bytes are still to be fetched, even if no more follow. */
    @Override
    protected void readAlready() {}

    @Override
    protected void fetch() {
        ByteBuffer first = beginning;
        if (first == null) {
            super.fetch();
        } else {
            beginning = null;
            received(first);
        }
    }
}
