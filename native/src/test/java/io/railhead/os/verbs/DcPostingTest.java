package io.railhead.os.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * How an initiator calls the functions that its structures point to, against how a C program calls
 * them by the headers' inline functions: both record each call with its arguments.
 */
final class DcPostingTest {
    private static final long SEED = 20261122;
    private static final int RANDOM_CHAINS = 200;
    private static final int GIGABYTE = 1 << 30;

    @TempDir
    private Path folder;

    /** A step of a scenario, in C and here. */
    private sealed interface Step {
        String c();

        void run(DcInitiator initiator, List<AddressHandle> handles);
    }

    private record Start() implements Step {
        @Override
        public String c() {
            return "ibv_wr_start(&qp);";
        }

        @Override
        public void run(DcInitiator initiator, List<AddressHandle> handles) {
            initiator.start();
        }
    }

    private record Rdma(boolean isWrite, long id, int flags, int rkey,
            long remote) implements Step {
        @Override
        public String c() {
            return "qp.wr_id = 0x%xu; qp.wr_flags = 0x%xu; ibv_wr_rdma_%s(&qp, 0x%xu, 0x%xu);"
                    .formatted(id, flags, isWrite ? "write" : "read", rkey, remote);
        }

        @Override
        public void run(DcInitiator initiator, List<AddressHandle> handles) {
            if (isWrite) {
                initiator.write(id, flags, rkey, remote);
            } else {
                initiator.read(id, flags, rkey, remote);
            }
        }
    }

    private record To(int handle, int number, long key) implements Step {
        @Override
        public String c() {
            return "mlx5dv_wr_set_dc_addr(&direct, &handles[%d], 0x%xu, 0x%xu);"
                    .formatted(handle, number, key);
        }

        @Override
        public void run(DcInitiator initiator, List<AddressHandle> handles) {
            initiator.target(handles.get(handle), number, key);
        }
    }

    private record Stretch(int lkey, long address, int bytes) {}

    private record One(Stretch stretch) implements Step {
        @Override
        public String c() {
            return "ibv_wr_set_sge(&qp, 0x%xu, 0x%xu, 0x%xu);".formatted(stretch.lkey,
                    stretch.address, stretch.bytes);
        }

        @Override
        public void run(DcInitiator initiator, List<AddressHandle> handles) {
            initiator.entry(stretch.lkey, stretch.address, stretch.bytes);
        }
    }

    private record Several(List<Stretch> stretches) implements Step {
        @Override
        public String c() {
            StringBuilder list = new StringBuilder();
            for (Stretch stretch : stretches) {
                list.append("{ .lkey = 0x%xu, .addr = 0x%xu, .length = 0x%xu }, "
                        .formatted(stretch.lkey, stretch.address, stretch.bytes));
            }
            return "{ struct ibv_sge list[] = { %s}; ibv_wr_set_sge_list(&qp, %d, list); }"
                    .formatted(list, stretches.size());
        }

        @Override
        public void run(DcInitiator initiator, List<AddressHandle> handles) {
            try (ScatterList list = new ScatterList(stretches.size())) {
                for (Stretch stretch : stretches) {
                    list.add(stretch.lkey, stretch.address, stretch.bytes);
                }
                initiator.entries(list);
            }
        }
    }

    /** The last function returns an errno, which has to come back. */
    private record Complete(int errno) implements Step {
        @Override
        public String c() {
            return "result = %d; if (ibv_wr_complete(&qp) != %d) puts(\"another result\");"
                    .formatted(errno, errno);
        }

        @Override
        public void run(DcInitiator initiator, List<AddressHandle> handles) {
            assertThat(initiator.complete()).isEqualTo(errno);
        }
    }

    private record Abort() implements Step {
        @Override
        public String c() {
            return "ibv_wr_abort(&qp);";
        }

        @Override
        public void run(DcInitiator initiator, List<AddressHandle> handles) {
            initiator.abort();
        }
    }

    private static List<Step> chosen() {
        Stretch one = new Stretch(0x8000_0001, 0xfedc_ba98_7654_3210L, GIGABYTE);
        Stretch two = new Stretch(5, 4096, 1);
        return List.of(
                // A signalled write of one stretch, every argument with its highest bit.
                new Start(), new Rdma(true, -1, 2, -1, -2), new To(0, 0xff_ffff, -3),
                new One(one), new Complete(0),
                // An unsignalled read into several.
                new Start(), new Rdma(false, 7, 0, 0x1234, 0x7000), new To(1, 1, 0xffee_ddccL),
                new Several(List.of(two, new Stretch(-1, -4096, GIGABYTE - 1))), new Complete(0),
                // A list of one stretch stays a list.
                new Start(), new Rdma(true, 8, 2, 1, 1), new To(0, 1, 1),
                new Several(List.of(two)), new Complete(0),
                // Two requests to different targets, fenced and solicited.
                new Start(), new Rdma(true, 9, 0, 1, 1), new To(0, 1, 1), new One(two),
                new Rdma(false, 10, 7, 2, 2), new To(1, 2, 2), new One(two), new Complete(0),
                // One given up, and one refused.
                new Start(), new Rdma(true, 11, 2, 1, 1), new To(0, 1, 1), new Abort(),
                new Start(), new Rdma(true, 12, 2, 1, 1), new To(0, 1, 1), new One(two),
                new Complete(12));
    }

    private static List<Step> random(Random random) {
        List<Step> steps = new ArrayList<>();
        for (int chain = 0; chain < RANDOM_CHAINS; chain++) {
            steps.add(new Start());
            for (int i = random.nextInt(1, 4); i > 0; i--) {
                steps.add(new Rdma(random.nextBoolean(), random.nextLong(), random.nextInt(8),
                        random.nextInt(), random.nextLong()));
                steps.add(new To(random.nextInt(2), random.nextInt(1 << 24), random.nextLong()));
                List<Stretch> stretches = new ArrayList<>();
                for (int j = random.nextInt(1, 5); j > 0; j--) {
                    stretches.add(new Stretch(random.nextInt(), random.nextLong(),
                            random.nextInt(GIGABYTE / 4)));
                }
                steps.add(stretches.size() == 1
                        ? new One(stretches.getFirst())
                        : new Several(stretches));
            }
            steps.add(random.nextInt(5) == 0 ? new Abort() : new Complete(random.nextInt(3)));
        }
        return steps;
    }

    @Test
    void everyCallIsThatOfTheInlineFunctions() throws Exception {
        List<Step> steps = new ArrayList<>(chosen());
        steps.addAll(random(new Random(SEED)));
        List<String> theirs = recordedByC(steps);
        assertThat(theirs).hasSizeGreaterThan(steps.size() - 1);
        assertThat(recordedHere(steps)).as("seed " + SEED).isEqualTo(theirs);
    }

    private List<String> recordedByC(List<Step> steps) throws Exception {
        RdmaCoreHeaders headers = new RdmaCoreHeaders(folder);
        Path program = folder.resolve("recorder");
        Files.write(folder.resolve("scenarios.inc"), steps.stream().map(Step::c).toList());
        assertThat(headers.compile("gcc", headers.source("dc_recorder.c"), "-Wall", "-o",
                program.toString())).isEmpty();
        return RdmaCoreHeaders.run(List.of(program.toString())).lines().toList();
    }

    private static List<String> recordedHere(List<Step> steps) throws Exception {
        try {
            NativeLibrary.open("libibverbs.so.1", "");
        } catch (VerbsUnavailableException e) {
            abort(e.toString());
        }
        try (DcRecorder recorder = new DcRecorder()) {
            DcInitiator initiator = recorder.initiator();
            List<AddressHandle> handles = recorder.handles();
            for (Step step : steps) {
                if (step instanceof Complete complete) {
                    recorder.result = complete.errno;
                }
                step.run(initiator, handles);
            }
            assertThat(recorder.thrown).isEmpty();
            return recorder.calls;
        }
    }
}
