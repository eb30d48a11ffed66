package io.railhead.gateway.authorization;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the store allowed is not remembered past a write that may have changed who is allowed. */
class PermissionChangesIT {
    private static final byte[] OBJECT = "what some may read".getBytes();

    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store).config("""
            rules:
              - freshness: immutable
                shared: true
            """).principals("""
            principals:
              - name: alice
                keys: [{access_key: ALICE, secret_key: alice-secret}]
              - name: bob
                keys: [{access_key: BOB, secret_key: bob-secret}]
            """);

    private TestClient alice() {
        return gateway.client("ALICE", "alice-secret");
    }

    private TestClient bob() {
        return gateway.client("BOB", "bob-secret");
    }

    /** Alice reads again after it, so that what is held is known to be fresh. */
    @ParameterizedTest
    @CsvSource({"PUT,/b/key?acl", "PUT,/b?acl", "PUT,/b?policy", "DELETE,/b?policy",
            "PUT,/b?publicAccessBlock", "PUT,/b?ownershipControls", "PUT,/b/key",
            "PUT,/b/key?tagging", "POST,/b?delete"})
    void whoIsRefusedAfterItIsRefusedAtOnce(String method, String target) {
        byte[] body = method.equals("DELETE")
                ? new byte[0]
                : target.endsWith("delete")
                        ? "<Delete><Object><Key>key</Key></Object></Delete>".getBytes()
                        : OBJECT;
        store.put("/b/key", OBJECT);
        alice().get("/b/key");
        assertThat(bob().get("/b/key").body()).isEqualTo(OBJECT);
        int before = store.requests().size();
        assertThat(bob().get("/b/key").body()).isEqualTo(OBJECT);
        assertThat(store.requests()).as("remembered").hasSize(before);

        assertThat(alice().send(method, target, body).statusCode()).isBetween(200, 204);
        store.deny("BOB");
        assertThat(alice().get("/b/key").body()).isEqualTo(OBJECT);
        assertThat(alice().get("/b/key").body()).isEqualTo(OBJECT);
        assertThat(bob().get("/b/key").statusCode()).isEqualTo(403);
        assertThat(bob().head("/b/key").statusCode()).isEqualTo(403);
    }

    @ParameterizedTest
    @CsvSource({"PUT,/b/other?acl", "PUT,/other?policy"})
    void aWriteOfAnotherKeyOrBucketLeavesItRemembered(String method, String target) {
        store.put("/b/key", OBJECT);
        bob().get("/b/key");
        alice().send(method, target, OBJECT);
        int before = store.requests().size();
        assertThat(bob().get("/b/key").body()).isEqualTo(OBJECT);
        assertThat(store.requests()).hasSize(before);
    }
}
