package io.railhead.cache.disk;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The state of the tier at one time, as metrics and the status page show it.
 *
 * @param open the volumes that take part, in the order of the configuration
 * @param unopened the number of those that are being opened
 * @param refusals by path, why the tier goes on without it
 */
record TierReport(DiskConfig config, List<VolumeService> open, int unopened,
        Map<String, String> refusals, DiskCounters counters) {

    List<VolumeState> volumes() {
        List<VolumeState> states = new ArrayList<>();
        for (int i = 0; i < config.paths().size(); i++) {
            int place = i;
            String path = config.paths().get(i);
            states.add(open.stream()
                    .filter(service -> service.place() == place)
                    .findFirst()
                    .map(service -> state(path, service))
                    .orElseGet(() -> unopened(path)));
        }
        return states;
    }

    private VolumeState unopened(String path) {
        @Nullable
        String refusal = refusals.get(path);
        return refusal == null
                ? VolumeState.unopened(path, VolumeState.State.OPENING, "")
                : VolumeState.unopened(path, VolumeState.State.REFUSED, refusal);
    }

    private static VolumeState state(String path, VolumeService service) {
        DiskVolume volume = service.volume();
        VolumeState.State state = service.isBroken()
                ? VolumeState.State.BROKEN
                : volume.isRecovered() ? VolumeState.State.WORKING : VolumeState.State.RECOVERING;
        return new VolumeState(path, state, "", volume.layout.volumeBytes(), volume.index.size(),
                volume.index.heldBytes(), service.writtenBytes());
    }

    DiskStats stats() {
        long capacity = 0;
        long pages = 0;
        long held = 0;
        long index = 0;
        long written = 0;
        long corrupt = 0;
        int broken = 0;
        int recovering = 0;
        for (VolumeService service : open) {
            DiskVolume volume = service.volume();
            capacity += volume.layout.volumeBytes();
            pages += volume.index.size();
            held += volume.index.heldBytes();
            index += volume.index.bytes() + volume.names.bytes();
            written += service.writtenBytes();
            corrupt += volume.corrupt.sum();
            broken += service.isBroken() ? 1 : 0;
            recovering += volume.isRecovered() ? 0 : 1;
        }
        return new DiskStats(open.size() + unopened, broken, recovering + unopened,
                refusals.size(), capacity, config.bytesPerDay(), pages, held, index,
                counters.queuedBytes.get(), counters.readPages.sum(), counters.readBytes.sum(),
                counters.writtenPages.sum(), written, corrupt, counters.errors.sum(),
                counters.hangs.sum(), tenants(), counters.notKept());
    }

    private Map<String, Long> tenants() {
        Map<String, Long> tenants = new HashMap<>();
        for (String tenant : config.tenants().keySet()) {
            tenants.put(tenant, open.stream()
                    .mapToLong(service -> service.volume().shares.count(service.tenant(tenant))
                            * service.volume().layout.segmentBytes())
                    .sum());
        }
        return tenants;
    }
}
