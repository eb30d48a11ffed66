package io.railhead.backend.aws;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.railhead.backend.Caller;
import java.net.URI;
import org.junit.jupiter.api.AfterAll;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.utility.DockerImageName;

/** The contract over MinIO in a container, where a Docker engine answers. */
class MinioContainerBackendIT extends MinioContract {
    private static final int PORT = 9000;
    private static final String IMAGE = "minio/minio:RELEASE.2025-09-07T16-13-09Z";

    private final Caller.Credential credential = new Caller.Credential("railhead-identity",
            "railhead-credential", null);
    private final GenericContainer<?> store = start();

    private GenericContainer<?> start() {
        assumeTrue(DockerClientFactory.instance().isDockerAvailable(), "no Docker engine answers");
        GenericContainer<?> container = new GenericContainer<>(DockerImageName.parse(IMAGE))
                .withEnv("MINIO_ROOT_USER", credential.accessKey())
                .withEnv("MINIO_ROOT_PASSWORD", credential.secretKey())
                .withCommand("server", "/data")
                .withExposedPorts(PORT)
                .waitingFor(Wait.forHttp("/minio/health/ready").forPort(PORT));
        container.start();
        return container;
    }

    @AfterAll
    void stop() {
        store.stop();
    }

    @Override
    protected URI endpoint() {
        return URI.create("http://" + store.getHost() + ":" + store.getMappedPort(PORT));
    }

    @Override
    protected Caller.Credential credential() {
        return credential;
    }
}
