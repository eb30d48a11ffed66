package io.railhead.cluster;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * The doubt whether this gateway's view has every gateway that clients can reach. A view has no
 * quorum: a gateway that is cut off, was paused, or starts beside another forms one of its own. Its
 * lease would let it serve what the others have changed.
 *
 * <ul> <li>With a fixed list nothing is covered while a listed gateway has not introduced itself in
 * this view. Its operator removes it from the list, or it comes back. <li>With a name to look up
 * nobody knows who is missing. So nothing is covered for a while after a member was lost, or while
 * this gateway is alone and has just begun: time enough for two views to find each other. </ul>
 *
 * Any thread. {@link #covers} takes no lock.
 */
final class Completeness {
    /** Longer than JGroups takes to find and merge another view of the same cluster. */
    private static final Duration MERGE = Duration.ofSeconds(10);

    private final LongSupplier nanoClock;
    private final boolean isFixed;
    private final Set<String> listed = new HashSet<>();
    private final Map<Member, String> introduced = new HashMap<>();
    private final Set<Member> leaving = new HashSet<>();
    private Membership membership = new Membership("", List.of());
    private volatile boolean isComplete;
    private volatile long quietUntilNanos;

    Completeness(ClusterConfig config, LongSupplier nanoClock) {
        this.nanoClock = nanoClock;
        this.quietUntilNanos = nanoClock.getAsLong();
        this.isFixed = config.discovery() instanceof ClusterConfig.Discovery.Fixed;
        if (config.discovery() instanceof ClusterConfig.Discovery.Fixed(var members)) {
            members.forEach(each -> listed.add(numeric(each)));
            listed.remove(numeric(config.listen()));
        }
        this.isComplete = listed.isEmpty();
    }

    /** Returns the address by which members know each other, whatever name the list has for it. */
    static String numeric(ClusterConfig.Address address) {
        try {
            return InetAddress.getByName(address.host()).getHostAddress() + ":" + address.port();
        } catch (UnknownHostException _) {
            return address.host() + ":" + address.port();
        }
    }

    boolean isCovered() {
        return isComplete && nanoClock.getAsLong() - quietUntilNanos >= 0;
    }

    /** Returns whether that was learnt after the doubt, and may be served now. */
    boolean covers(long learntAtNanos) {
        return isCovered() && learntAtNanos - quietUntilNanos > 0;
    }

    synchronized void membersAre(Membership now) {
        boolean isLost = membership.others()
                .stream()
                .anyMatch(each -> !now.others().contains(each) && !leaving.contains(each));
        if (isLost || now.others().isEmpty()) {
            doubt();
        }
        membership = now;
        introduced.keySet().retainAll(now.others());
        leaving.retainAll(now.others());
        isComplete = missing().isEmpty();
    }

    /**
     * Covers nothing until another view has had time to be found, unless a list says who there is.
     */
    void doubt() {
        if (!isFixed) {
            quietUntilNanos = nanoClock.getAsLong() + MERGE.toNanos();
        }
    }

    /** Takes a member's own address. */
    synchronized void introduced(Member from, String address) {
        if (membership.others().contains(from)) {
            introduced.put(from, address);
            isComplete = missing().isEmpty();
        }
    }

    synchronized void saidFarewell(Member from) {
        leaving.add(from);
    }

    /** Returns the listed addresses of which no member has introduced itself, sorted. */
    synchronized List<String> missing() {
        List<String> missing = new ArrayList<>(listed);
        missing.removeAll(introduced.values());
        missing.sort(null);
        return List.copyOf(missing);
    }
}
