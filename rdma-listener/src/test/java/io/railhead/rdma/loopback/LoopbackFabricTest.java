package io.railhead.rdma.loopback;

import io.railhead.rdma.FabricRig;
import io.railhead.rdma.SessionFabricContract;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

class LoopbackFabricTest extends SessionFabricContract {
    @TempDir
    Path folder;

    @Override
    protected FabricRig start() {
        return LoopbackRig.in(folder);
    }
}
