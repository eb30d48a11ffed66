package io.railhead.cluster;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A cluster as one member sees it now.
 *
 * @param view the id of its view
 * @param isLeaseHeld whether this gateway may serve without asking
 * @param casts changes that this gateway told
 * @param unheard those of them that waited until the lease had passed
 * @param applied changes of others that were applied here
 * @param gaps how often changes of others were missing
 * @param views how many views there were
 * @param refusedFrames frames that could not be read or applied
 */
public record ClusterState(String view, boolean isLeaseHeld, List<Peer> peers, long casts,
        long unheard, long applied, long gaps, long views, long refusedFrames) {

    public ClusterState {
        peers = List.copyOf(peers);
    }

    /**
     * Another member of the view.
     *
     * @param silence how old its last answer is; null if it has given none under this view
     * @param differing the keys of facts that are not as here
     * @param fills where it answers fills; "" if it shares nothing out
     */
    public record Peer(Member member, @Nullable Duration silence, List<String> differing,
            String fills) {
        public Peer {
            differing = List.copyOf(differing);
        }
    }
}
