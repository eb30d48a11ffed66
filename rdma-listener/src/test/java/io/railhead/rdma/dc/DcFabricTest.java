package io.railhead.rdma.dc;

import io.railhead.os.verbs.RequiresRdmaCore;
import io.railhead.rdma.FabricContract;
import io.railhead.rdma.FabricRig;
import java.io.IOException;

@RequiresRdmaCore
class DcFabricTest extends FabricContract {

    @Override
    protected FabricRig start() throws IOException {
        return DcRig.start();
    }
}
