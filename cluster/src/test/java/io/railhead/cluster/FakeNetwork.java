package io.railhead.cluster;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Members in one process: a test says who is in whose view, and which frames get lost. */
final class FakeNetwork implements AutoCloseable {
    private final Map<Member, FakeLink> links = new ConcurrentHashMap<>();
    private final Set<List<Member>> cuts = ConcurrentHashMap.newKeySet();
    private final List<Predicate<Frame>> lost = new CopyOnWriteArrayList<>();

    /** The link of a new member, which is in no view yet. */
    Link link(Member member) {
        return new FakeLink(member);
    }

    /** Loses all that one says to the other. */
    void cut(Member from, Member to) {
        cuts.add(List.of(from, to));
    }

    void heal() {
        cuts.clear();
        lost.clear();
    }

    /** Loses such frames. */
    void lose(Predicate<Frame> frames) {
        lost.add(frames);
    }

    /** Puts these members into one view. */
    void view(String id, Member... members) {
        for (Member each : members) {
            List<Member> others = new ArrayList<>(List.of(members));
            others.remove(each);
            FakeLink link = links.get(each);
            if (link != null) {
                link.thread.execute(() -> link.ear().membersAre(new Membership(id, others)));
            }
        }
    }

    @Override
    public void close() {
        links.values().forEach(link -> link.thread.shutdownNow());
    }

    private final class FakeLink implements Link {
        private final Member self;
        private final ExecutorService thread = Executors.newSingleThreadExecutor();
        private volatile @Nullable Ear opened;
        private volatile List<Member> others = List.of();

        FakeLink(Member self) {
            this.self = self;
        }

        Ear ear() {
            Ear ear = opened;
            if (ear == null) {
                throw new IllegalStateException("not open");
            }
            return ear;
        }

        @Override
        public void open(Ear ear) {
            opened = new Ear() {
                @Override
                public void membersAre(Membership membership) {
                    others = membership.others();
                    ear.membersAre(membership);
                }

                @Override
                public void heard(Member from, byte[] frame) {
                    ear.heard(from, frame);
                }
            };
            links.put(self, this);
            ear().membersAre(new Membership("alone/" + self.id(), List.of()));
        }

        @Override
        public void cast(byte[] frame) {
            others.forEach(each -> send(each, frame));
        }

        @Override
        public void send(Member to, byte[] frame) {
            FakeLink link = links.get(to);
            Frame parsed = Frame.of(frame);
            if (link != null && !cuts.contains(List.of(self, to))
                    && lost.stream().noneMatch(each -> each.test(parsed))) {
                link.thread.execute(() -> link.ear().heard(self, frame));
            }
        }

        @Override
        public void close() {
            links.remove(self);
            thread.shutdown();
        }
    }
}
