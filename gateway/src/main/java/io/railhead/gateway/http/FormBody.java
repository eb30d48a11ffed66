package io.railhead.gateway.http;

import io.railhead.gateway.s3.body.BodyReader;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** A body whose beginning has been read already, and may have been written anew. */
public final class FormBody extends RequestBody {
    private @Nullable ByteBuffer beginning;

    /** @param beginning goes before what is still to be read; its content must not change */
    public FormBody(HttpExchange httpExchange, BodyReader reader, ByteBuffer beginning) {
        super(httpExchange, reader);
        this.beginning = beginning;
    }

    /** Its beginning is still to be fetched, even where that is all. */
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
