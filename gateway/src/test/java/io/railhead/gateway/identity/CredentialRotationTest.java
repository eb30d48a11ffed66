package io.railhead.gateway.identity;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.config.ConfigLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A key that is taken away ends its sessions, however busily they are used meanwhile. */
class CredentialRotationTest {
    private static final List<String> KEYS = List.of(
            "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n",
            "HwECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n");

    @TempDir
    private Path folder;

    private void write(String name, String content) throws Exception {
        Files.writeString(folder.resolve(name), content);
    }

    @Test
    void noSessionOutlivesItsKey() throws Exception {
        write("session.keys", KEYS.getFirst());
        write("credentials.yaml", """
                roles:
                  - {name: pods, issuer: "https://k8s", claims: {sub: x},
                     backend_credential: {access_key: A, secret_key: S}}
                """);
        write("railhead.yaml", """
                gateway: {credentials: credentials.yaml, web_identity: {session_keys: session.keys,
                  issuers: [{issuer: "https://k8s", audiences: [a]}]}}
                backends: {a: {endpoints: ["http://s3"]}}
                """);
        try (CredentialStore store = CredentialStore.open(
                ConfigLoader.load(folder.resolve("railhead.yaml")).gateway())) {
            for (int round = 1; round <= 30; round++) {
                List<AccessKey> sealed = Stream.generate(() -> store.seal(session()))
                        .limit(64)
                        .toList();
                AtomicBoolean over = new AtomicBoolean();
                List<Thread> users = Stream.generate(() -> Thread.ofPlatform().start(() -> {
                    while (!over.get()) {
                        sealed.forEach(key -> find(store, key));
                    }
                })).limit(3).toList();
                write("session.keys", KEYS.get(round % 2));
                store.reload();
                over.set(true);
                for (Thread user : users) {
                    user.join();
                }
                assertThat(sealed).noneMatch(key -> find(store, key) != null);
            }
        }
    }

    private static @Nullable Identity find(CredentialStore store, AccessKey key) {
        return store.find(key.id(), Objects.requireNonNull(key.sessionToken()).reveal());
    }

    private static RoleSession session() {
        Instant now = Instant.now();
        return new RoleSession("pods", RoleSession.hash("https://k8s"), "pod", "x", now,
                now.plusSeconds(900), Map.of("sub", "x"), null);
    }
}
