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
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The members that share objects out, this one among them: those of the view that listen for fills
 * and agree with this one on what placement depends on. One that leaves owns nothing, and still
 * says what it holds. Any thread; {@link #ownerOf} and {@link #previousOwnerOf} take no lock.
 */
final class Sharers {
    private final ClusterConfig config;
    private final LongSupplier nanoClock;
    private volatile @Nullable Sharer own;
    private final Map<Member, Sharer> others = new HashMap<>();
    private final Set<Member> leaving = new HashSet<>();
    private Set<Member> present = Set.of();
    private boolean hasMet;
    private volatile List<Sharer> all;
    private volatile EndedViews ended = EndedViews.NONE;

    /**
     * One of them.
     *
     * @param member null for this gateway
     * @param hash of its name
     * @param fills where it answers; null for this gateway
     * @param endpoint the URL for clients; null until it serves them
     */
    private record Sharer(@Nullable Member member, String name, long hash,
            ClusterConfig.@Nullable Address fills, @Nullable String endpoint,
            List<String> differing, boolean isLeaving) {

        static Sharer own(String name, @Nullable String endpoint, boolean isLeaving) {
            return new Sharer(null, name, Ownership.member(name), null, endpoint, List.of(),
                    isLeaving);
        }

        /** Returns whether it owns runs of a backend. */
        boolean owns(String backendFact) {
            return !isLeaving && agreesOn(backendFact);
        }

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

    /** @param nanoClock monotonic */
    Sharers(ClusterConfig config, LongSupplier nanoClock) {
        this.config = config;
        this.nanoClock = nanoClock;
        this.own = config.fills() == null ? null : Sharer.own(config.member(), null, false);
        this.all = sorted();
    }

    synchronized void membersAre(Membership now) {
        Set<Member> before = owners();
        present = new HashSet<>(now.others());
        others.keySet().retainAll(present);
        leaving.retainAll(present);
        if (!hasMet && !present.isEmpty()) {
            // The members that this one finds owned everything until now, so far as it knows.
            hasMet = true;
            ended = ended.and(present, null, nanoClock.getAsLong());
        } else {
            endIfOthersThan(before);
        }
        all = sorted();
    }

    /** Returns the other members of the view that do not leave. */
    private Set<Member> owners() {
        Set<Member> owners = new HashSet<>(present);
        owners.removeAll(leaving);
        return owners;
    }

    /** Notes owners of before, where those of now are others. */
    private void endIfOthersThan(Set<Member> before) {
        if (!before.equals(owners())) {
            end(before);
        }
    }

    private void end(Set<Member> before) {
        Sharer here = own;
        ended = ended.and(before, here == null || here.isLeaving() ? null : here.name(),
                nanoClock.getAsLong());
    }

    /**
     * Takes a member's word of itself.
     *
     * @param differing the keys of facts that are not as here
     */
    synchronized void introduced(Member from, Introduction word, List<String> differing) {
        if (word.isLeaving()) {
            leaves(from);
        }
        ClusterConfig.Address fills = word.fills();
        Sharer said = fills == null || !present.contains(from)
                ? null
                : new Sharer(from, from.name(), Ownership.member(from.name()), fills,
                        word.endpoint(), differing, leaving.contains(from));
        Sharer before = said == null ? others.remove(from) : others.put(from, said);
        if (said == null ? before != null : !said.equals(before)) {
            all = sorted();
        }
    }

    private void leaves(Member from) {
        Set<Member> before = owners();
        if (present.contains(from)) {
            leaving.add(from);
        }
        endIfOthersThan(before);
    }

    /** Notes where this gateway serves clients. */
    synchronized void serveAt(String endpoint) {
        Sharer before = own;
        if (before != null) {
            own = Sharer.own(before.name(), endpoint, before.isLeaving());
            all = sorted();
        }
    }

    /** Owns nothing any more. */
    synchronized void leave() {
        Sharer before = own;
        if (before != null && !before.isLeaving()) {
            end(owners());
            own = Sharer.own(before.name(), before.endpoint(), true);
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
                if (endpoint != null && !each.isLeaving() && each.differing().isEmpty()) {
                    found.put(each.name(), endpoint);
                }
            }
        }
        return found;
    }

    /** Asks a member nothing more that is about to go. */
    synchronized void saidFarewell(Member from) {
        leaves(from);
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

    /** Returns where the other members answer now. */
    Set<ClusterConfig.Address> fills() {
        Set<ClusterConfig.Address> found = new HashSet<>();
        for (Sharer each : all) {
            ClusterConfig.Address fills = each.fills();
            if (fills != null) {
                found.add(fills);
            }
        }
        return found;
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
        Sharer owner = null;
        long highest = 0;
        for (Sharer each : now) {
            long score = Ownership.score(each.hash(), run);
            if ((owner == null || Long.compareUnsigned(score, highest) > 0) && each.owns(fact)) {
                owner = each;
                highest = score;
            }
        }
        return owner == null ? null : owner.fills();
    }

    /**
     * Returns where that member answers which owned a run in the newest view that ended a short
     * while ago and had an owner that is not this gateway, and is still there; null if there is
     * none. A member that was restarted is another one.
     */
    ClusterConfig.@Nullable Address previousOwnerOf(String backend, String bucket, String key,
            long index) {
        List<EndedViews.Ended> before = ended.newestFirst();
        String fact = ClusterConfig.BACKEND_FACT + backend;
        if (before.isEmpty() || own == null || !config.facts().containsKey(fact)) {
            return null;
        }
        List<Sharer> now = all;
        long run = Ownership.run(bucket, key, index);
        for (EndedViews.Ended each : before) {
            Sharer owner = each.isOver(nanoClock.getAsLong())
                    ? null
                    : ownerIn(each, now, fact, run);
            if (owner != null) {
                return owner.fills();
            }
        }
        return null;
    }

    /** Returns the owner of a run in a view that has ended; null if it is here, or has gone. */
    private static @Nullable Sharer ownerIn(EndedViews.Ended view, List<Sharer> now, String fact,
            long run) {
        Sharer owner = null;
        long highest = 0;
        boolean hasOwner = false;
        for (EndedViews.Owner each : view.owners()) {
            long score = Ownership.score(each.hash(), run);
            if (hasOwner && Long.compareUnsigned(score, highest) <= 0) {
                continue;
            }
            Sharer found = each.member() == null ? null : find(now, each.member());
            if (found == null || found.agreesOn(fact)) {
                owner = found;
                highest = score;
                hasOwner = true;
            }
        }
        return owner;
    }

    private static @Nullable Sharer find(List<Sharer> now, Member member) {
        for (Sharer each : now) {
            if (member.equals(each.member())) {
                return each;
            }
        }
        return null;
    }
}
