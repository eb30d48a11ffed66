package io.railhead.backend.aws;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.railhead.backend.Caller;
import io.railhead.backend.testing.MinioProcess;
import java.net.URI;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;

/** The contract over the MinIO program that MINIO_BIN names. */
class MinioProgramBackendIT extends MinioContract {
    private final MinioProcess store = start();

    private static MinioProcess start() {
        String program = System.getenv("MINIO_BIN");
        assumeTrue(program != null, "MINIO_BIN names no minio program");
        return new MinioProcess(Path.of(String.valueOf(program)));
    }

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
}
