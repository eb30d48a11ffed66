package io.railhead.cli.reading;

import java.io.IOException;
import java.net.URI;
import org.jspecify.annotations.Nullable;

/** A gateway that objects are read through. */
public sealed interface ReadGateway permits OwnGateway, ReadGateway.Given {

    URI endpoint();

    /** As a table names it. */
    String freshness();

    /** Of its process; 0 where it is not ours to look at. */
    long pid();

    /** Null where it cannot be known. */
    @Nullable
    StoreUsage spent() throws IOException;

    /** One that runs already, whose process and settings are others' affair. */
    record Given(URI endpoint) implements ReadGateway {
        @Override
        public String freshness() {
            return "as set";
        }

        @Override
        public long pid() {
            return 0;
        }

        @Override
        public @Nullable StoreUsage spent() {
            return null;
        }
    }
}
