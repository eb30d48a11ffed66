package io.railhead.cluster;

import io.railhead.protocol.placement.Ownership;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The members that share objects out, this one among them: those of the view that listen for fills
 * and agree with this one on what placement depends on. Any thread; {@link #ownerOf} takes no lock.
 */
final class Sharers {
    private final ClusterConfig config;
    private volatile @Nullable Sharer own;
    private final Map<Member, Sharer> others = new HashMap<>();
    private Set<Member> present = Set.of();
    private volatile List<Sharer> all;

    /**
     * One of them.
     *
     * @param hash of its name
     * @param fills where it answers; null for this gateway
     * @param endpoint the URL for clients; null until it serves them
     */
    private record Sharer(String name, long hash, ClusterConfig.@Nullable Address fills,
            @Nullable String endpoint, List<String> differing) {

        /** Facts of other backends do not matter for this one. */
        boolean agreesOn(String backendFact) {
            for (String fact : differing) {
                if (fact.equals(backendFact) || !fact.startsWith(ClusterConfig.BACKEND_FACT)) {
                    return false;
                }
            }
            return true;
        }
    }

    Sharers(ClusterConfig config) {
        this.config = config;
        this.own = config.fills() == null
                ? null
                : new Sharer(config.member(), Ownership.member(config.member()), null, null,
                        List.of());
        this.all = sorted();
    }

    synchronized void membersAre(Membership now) {
        present = new HashSet<>(now.others());
        others.keySet().retainAll(present);
        all = sorted();
    }

    /**
     * Takes a member's word of itself.
     *
     * @param fills where it answers; null if it shares nothing
     * @param endpoint where it serves clients; null if it does not
     * @param differing the keys of facts that are not as here
     */
    synchronized void introduced(Member from, ClusterConfig.@Nullable Address fills,
            @Nullable String endpoint, List<String> differing) {
        Sharer said = fills == null || !present.contains(from)
                ? null
                : new Sharer(from.name(), Ownership.member(from.name()), fills, endpoint,
                        differing);
        Sharer before = said == null ? others.remove(from) : others.put(from, said);
        if (said == null ? before != null : !said.equals(before)) {
            all = sorted();
        }
    }

    /** Notes where this gateway serves clients. */
    synchronized void serveAt(String endpoint) {
        Sharer before = own;
        if (before != null) {
            own = new Sharer(before.name(), before.hash(), null, endpoint, List.of());
            all = sorted();
        }
    }

    /**
     * Returns where clients reach each owner, by its name; empty if this gateway shares nothing
     * out. Clients know no backends: a member that differs in any fact is not among them.
     */
    Map<String, String> endpoints() {
        Map<String, String> found = new TreeMap<>();
        if (own != null) {
            for (Sharer each : all) {
                String endpoint = each.endpoint();
                if (endpoint != null && each.differing().isEmpty()) {
                    found.put(each.name(), endpoint);
                }
            }
        }
        return found;
    }

    /** Asks a member nothing more that is about to go. */
    synchronized void saidFarewell(Member from) {
        others.remove(from);
        all = sorted();
    }

    /** Returns the members in the order of their names, which must differ. */
    private List<Sharer> sorted() {
        List<Sharer> found = new ArrayList<>(others.values());
        Sharer here = own;
        if (here != null) {
            found.add(here);
        }
        found.sort(Comparator.comparing(Sharer::name));
        return List.copyOf(found);
    }

    /** Returns where a member answers; null if it shares nothing. */
    synchronized ClusterConfig.@Nullable Address fillsOf(Member member) {
        Sharer found = others.get(member);
        return found == null ? null : found.fills();
    }

    /** Returns whether some member answers there now. */
    boolean isThere(ClusterConfig.Address fills) {
        for (Sharer each : all) {
            if (fills.equals(each.fills())) {
                return true;
            }
        }
        return false;
    }

    /**
     * Returns where the owner of a run answers; null if this gateway owns it, or shares nothing of
     * the backend out.
     */
    ClusterConfig.@Nullable Address ownerOf(String backend, String bucket, String key, long index) {
        List<Sharer> now = all;
        Sharer here = own;
        String fact = ClusterConfig.BACKEND_FACT + backend;
        if (here == null || now.size() == 1 || !config.facts().containsKey(fact)) {
            return null;
        }
        long run = Ownership.run(bucket, key, index);
        Sharer owner = here;
        long highest = Ownership.score(here.hash(), run);
        for (Sharer each : now) {
            long score = Ownership.score(each.hash(), run);
            if (Long.compareUnsigned(score, highest) > 0 && each.agreesOn(fact)) {
                owner = each;
                highest = score;
            }
        }
        return owner.fills();
    }
}
