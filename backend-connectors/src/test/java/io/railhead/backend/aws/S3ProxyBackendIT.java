package io.railhead.backend.aws;

import io.railhead.backend.Caller;
import io.railhead.backend.Capabilities;
import io.railhead.backend.testing.BackendContract;
import io.railhead.backend.testing.S3ProxyProcess;
import java.net.URI;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;

/** The contract over s3proxy, which runs wherever a JDK does. */
class S3ProxyBackendIT extends BackendContract {
    private final S3ProxyProcess store = new S3ProxyProcess(Path.of("target/s3proxy/s3proxy.jar"));

    @AfterAll
    void stop() {
        store.close();
    }

    @Override
    protected URI endpoint() {
        return store.endpoint();
    }

    @Override
    protected Caller.Credential credential() {
        return store.credential();
    }

    /** It verifies checksums but keeps none to show. */
    @Override
    protected Capabilities capabilities() {
        return new Capabilities(true, true, true, false, true);
    }

    /** It keeps objects under file paths, where {@code d//e}, {@code d/./e} and d/e are one. */
    @Override
    protected boolean takesKeysWithOddSegments() {
        return false;
    }
}
