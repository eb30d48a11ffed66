package io.railhead.gateway.identity;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.railhead.backend.Caller;
import io.railhead.gateway.config.ConfigException;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CredentialStoreTest {
    private static final String ALICE = "  - {name: alice, keys: [{access_key: A1, secret_key: s1}]}\n";
    private static final String BOB = "  - {name: bob, keys: [{access_key: B1, secret_key: s2}]}\n";

    @TempDir
    Path folder;

    private Path write(String principals) throws IOException {
        return Files.writeString(folder.resolve("credentials.yaml"),
                "principals:\n" + principals);
    }

    private static Principal principal(CredentialStore store, String accessKey) {
        return requireNonNull(store.find(accessKey, null)).principal();
    }

    @Test
    void aSecretMatchesItsOwnTextAlone() {
        Secret secret = new Secret("a/b");
        assertThat(secret.matches("a/b")).isTrue();
        for (String other : new String[]{"", "a", "a/", "a/c", "A/b", "a/bb", "a/b ", "a/\u0162"}) {
            assertThat(secret.matches(other)).as(other).isFalse();
        }
        assertThat(new Secret("").matches("")).isTrue();
        assertThat(new Secret("").matches("x")).isFalse();
    }

    @Test
    void everyKeyIsPinned() throws Exception {
        CredentialStore store = CredentialStore.load(write("""
                  - name: alice
                    tenant: research
                    keys:
                      - {access_key: A1, secret_key: s1}
                      - {access_key: A2, secret_key: s2, session_token: t2}
                    backend_credential:
                      {account: acc, access_key: X, secret_key: sx, session_token: tx}
                    gids: ["::FFFF:10.0.0.7"]
                    rdma_get: false
                    rdma_put: true
                    admin: true
                """));

        assertThat(store.principals()).containsExactly(new Principal("alice", "research",
                List.of(new AccessKey("A1", new Secret("s1"), null),
                        new AccessKey("A2", new Secret("s2"), new Secret("t2"))),
                new BackendCredential("acc", new Caller.Credential("X", "sx", "tx")),
                Set.of(InetAddress.ofLiteral("10.0.0.7")), false, true, true));
        assertThat(requireNonNull(store.find("A2", null)).key().id()).isEqualTo("A2");
        assertThat(store.find("A3", null)).isNull();
    }

    @Test
    void everyDefaultIsPinned() throws Exception {
        assertThat(CredentialStore.load(write(ALICE)).principals())
                .containsExactly(new Principal("alice", "default",
                        List.of(new AccessKey("A1", new Secret("s1"), null)), null, Set.of(), true,
                        false, false));
    }

    @Test
    void aPrincipalIsItselfAtTheStoreUnlessItHasAnotherCredentialThere() throws Exception {
        CredentialStore store = CredentialStore.load(write(ALICE + """
                  - name: bob
                    keys: [{access_key: B1, secret_key: s2}]
                    backend_credential: {access_key: X, secret_key: sx}
                  - name: carol
                    keys: [{access_key: C1, secret_key: s3}]
                    backend_credential: {account: acc, access_key: Y, secret_key: sy}
                """));
        Principal alice = principal(store, "A1");
        Principal bob = principal(store, "B1");
        Principal carol = principal(store, "C1");

        assertThat(alice.backendCredential(alice.keys().getFirst()))
                .isEqualTo(new Caller.Credential("A1", "s1", null));
        assertThat(bob.backendCredential(bob.keys().getFirst()))
                .isEqualTo(new Caller.Credential("X", "sx", null));
        assertThat(alice.namespace(alice.keys().getFirst())).isEqualTo("A1");
        assertThat(bob.namespace(bob.keys().getFirst())).isEqualTo("X");
        assertThat(carol.namespace(carol.keys().getFirst())).isEqualTo("acc");
    }

    @Test
    void noSecretIsEverPrinted() throws Exception {
        CredentialStore store = CredentialStore.load(write("""
                  - {name: a, keys: [{access_key: K, secret_key: hush1, session_token: hush2}],
                     backend_credential: {access_key: X, secret_key: hush3}}
                """));
        assertThat(store.principals().toString() + store.find("K", null)).doesNotContain("hush");
        Path file = Files.writeString(folder.resolve("broken.yaml"),
                "principals:\n  - {name: a, keys: [{access_key: K, secret_key: hush4 hush5: ,\n");
        assertThat(catchThrowableOfType(ConfigException.class, () -> CredentialStore.load(file)))
                .hasMessageStartingWith("broken.yaml:")
                .hasMessageNotContainingAny("hush", "\n");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', value = {
            "{keys: []}                           | principals[0].name: is missing",
            "{name: a, keys: [{access_key: K, secret_key: s}], backend_credential: {provider: x}} | provider: 'x' is not known",
            "{name: a, keys: [{access_key: K, secret_key: s}], backend_credential: {provider: default, access_key: k}} | provider: stands instead of",
            "{name: a}                            | principals[0].keys: needs at least one",
            "{name: a, keys: [{access_key: K}]}   | principals[0].keys[0].secret_key: is missing",
            "{name: a, keys: [{access_key: 5, secret_key: s}]} | keys[0].access_key: must be text; put",
            "{name: a, keys: [{access_key: a/b, secret_key: s}]} | keys[0].access_key: must not hold",
            "{name: a, keys: [{access_key: K, secret_key: s, x: 1}]} | keys[0].x: unknown key",
            "{name: a, keys: [{access_key: K, secret_key: s}], rdma: 1} | principals[0].rdma: unknown",
            "{name: a, keys: [{access_key: K, secret_key: s}, {access_key: K, secret_key: s}]} | 'K' appears twice",
            "{name: a, keys: [{access_key: K, secret_key: s}], backend_credential: {account: x}} | principals[0].backend_credential.access_key: is missing",
    })
    void aBadFileIsOneLineNamingItsKey(String principal, String line) throws IOException {
        Path file = write("  - " + principal + "\n");
        assertThat(catchThrowableOfType(ConfigException.class, () -> CredentialStore.load(file)))
                .hasMessageStartingWith("credentials.yaml: ")
                .hasMessageContaining(line);
    }

    @Test
    void aNameOrAccessKeyMayAppearOnce() throws IOException {
        Path names = write(ALICE + ALICE);
        assertThat(catchThrowableOfType(ConfigException.class, () -> CredentialStore.load(names)))
                .hasMessageContaining("principals[1].name: 'alice' appears twice");
        Path keys = write(ALICE + ALICE.replace("alice", "bob"));
        assertThat(catchThrowableOfType(ConfigException.class, () -> CredentialStore.load(keys)))
                .hasMessageContaining("principals[1].keys: the access_key 'A1' appears twice");
        Path none = write("");
        assertThat(catchThrowableOfType(ConfigException.class, () -> CredentialStore.load(none)))
                .hasMessageContaining("principals: is missing");
    }

    @Test
    void principalsThatTheStoreCannotTellApartAreNamed() throws Exception {
        String shared = "backend_credential: {access_key: X, secret_key: s}";
        CredentialStore store = CredentialStore.load(write(
                ALICE.replace("}]}", "}], " + shared + "}")
                        + BOB.replace("}]}", "}], " + shared + "}")));
        assertThat(store.warnings()).containsExactly("principals alice, bob share the backend"
                + " credential X: only a static policy can tell them apart");
        write(ALICE + BOB);
        store.reload();
        assertThat(store.warnings()).isEmpty();
    }

    @Test
    void aReloadTellsWhoVanishedAndWhoChanged() throws Exception {
        CredentialStore store = CredentialStore.load(write(ALICE + BOB));
        List<CredentialChange> changes = new ArrayList<>();
        store.onChange(changes::add);

        write(ALICE.replace("s1", "s9") + BOB.replace("bob", "carol"));
        store.reload();

        assertThat(changes).containsExactly(
                new CredentialChange(Set.of("bob"), Set.of("alice"), Set.of("carol")));
        assertThat(principal(store, "B1").name()).isEqualTo("carol");
        write(ALICE.replace("s1", "s9") + BOB.replace("bob", "carol") + "\n# the same\n");
        store.reload();
        assertThat(changes).hasSize(1);
    }

    @Test
    void aFileThatCannotBeUsedChangesNothingAndIsCountedOnce() throws Exception {
        CredentialStore store = CredentialStore.load(write(ALICE));
        List<Boolean> usable = new ArrayList<>();
        store.tell(refusal -> usable.add(refusal.isEmpty()));
        write("  - nonsense\n");
        store.reload();
        store.reload();
        assertThat(usable).containsExactly(false);
        assertThat(principal(store, "A1").name()).isEqualTo("alice");

        Files.delete(folder.resolve("credentials.yaml"));
        store.reload();
        store.reload();
        assertThat(usable).containsExactly(false, false);
        assertThat(principal(store, "A1").name()).isEqualTo("alice");

        write(BOB);
        store.reload();
        assertThat(store.find("A1", null)).isNull();
        assertThat(principal(store, "B1").name()).isEqualTo("bob");
        assertThat(usable).containsExactly(false, false, true);
    }

    @Test
    void aFailingListenerDoesNotKeepOthersFromHearing() throws Exception {
        CredentialStore store = CredentialStore.load(write(ALICE));
        List<CredentialChange> changes = new ArrayList<>();
        store.onChange(change -> {
            throw new IllegalStateException("a listener of this test");
        });
        store.onChange(changes::add);
        write(BOB);
        store.reload();
        assertThat(changes).hasSize(1);
    }

    @Test
    void theWatchSeesAProjectedSecretBeingSwapped() throws Exception {
        for (String version : List.of("v1", "v2")) {
            Files.createDirectory(folder.resolve(version));
        }
        Files.writeString(folder.resolve("v1/credentials.yaml"), "principals:\n" + ALICE);
        Files.writeString(folder.resolve("v2/credentials.yaml"), "principals:\n" + BOB);
        Files.createSymbolicLink(folder.resolve("..data"), Path.of("v1"));
        Path file = Files.createSymbolicLink(folder.resolve("credentials.yaml"),
                Path.of("..data/credentials.yaml"));
        try (CredentialStore store = CredentialStore.load(file)) {
            LinkedBlockingQueue<CredentialChange> changes = new LinkedBlockingQueue<>();
            store.onChange(changes::add);
            store.watch();

            Files.createSymbolicLink(folder.resolve("..tmp"), Path.of("v2"));
            Files.move(folder.resolve("..tmp"), folder.resolve("..data"),
                    StandardCopyOption.ATOMIC_MOVE);

            assertThat(changes.poll(60, TimeUnit.SECONDS))
                    .isEqualTo(new CredentialChange(Set.of("alice"), Set.of(), Set.of("bob")));
            assertThat(principal(store, "B1").name()).isEqualTo("bob");
        }
    }
}
