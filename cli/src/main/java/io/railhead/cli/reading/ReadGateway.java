package io.railhead.cli.reading;

import java.io.IOException;
import java.net.URI;
import org.jspecify.annotations.Nullable;

/** A gateway under measurement. */
public sealed interface ReadGateway permits OwnGateway, ReadGateway.Given {

    URI endpoint();

    /** Returns the freshness for the table. */
    String freshness();

    /** Returns the process id; 0 if the process is not local. */
    long pid();

    /** Returns null if it is unknown. */
    @Nullable
    StoreUsage spent() throws IOException;

    /** A gateway that runs already, whose process and settings are not under control. */
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
