package io.railhead.gateway.admin;

import io.railhead.cluster.ClusterState;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Shows the members of this gateway's cluster, as it sees them. */
public final class MembersCall {
    private final String own;
    private final @Nullable Supplier<ClusterState> state;

    /**
     * @param own the name of this gateway
     * @param state null for a gateway without a cluster
     */
    public MembersCall(String own, @Nullable Supplier<ClusterState> state) {
        this.own = own;
        this.state = state;
    }

    JsonObject call(AdminCall.Asked asked) {
        asked.body().close();
        if (state == null) {
            throw new S3Refusal(S3Error.INVALID_REQUEST,
                    "This gateway has no cluster (cluster in its configuration).").withStatus(409);
        }
        ClusterState now = state.get();
        JsonArray members = new JsonArray().add(JsonObject.of("name", own, "self", true));
        for (ClusterState.Peer peer : now.peers()) {
            Duration silence = peer.silence();
            members.add(JsonObject.of("name", peer.member().name(), "self", false,
                    "silence_ms", silence == null ? null : silence.toMillis(),
                    "differs_in", new JsonArray(peer.differing()), "fills", peer.fills()));
        }
        return JsonObject.of("view", now.view(), "lease", now.isLeaseHeld(), "members", members,
                "told", now.casts(), "unheard", now.unheard(), "applied", now.applied(),
                "gaps", now.gaps());
    }
}
