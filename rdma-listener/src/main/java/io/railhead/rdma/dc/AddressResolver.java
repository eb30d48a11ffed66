package io.railhead.rdma.dc;

import io.railhead.os.adapter.Adapter;
import io.railhead.os.adapter.GidBytes;
import io.railhead.os.verbs.AddressHandle;
import io.railhead.os.verbs.AddressVector;
import io.railhead.os.verbs.Mlx5;
import java.io.IOException;
import java.nio.ByteBuffer;

/** Creates address handles for ports as configured; any thread, and slow. */
record AddressResolver(Adapter adapter, Mlx5 mlx5, DcFabricConfig config, SourceGids gids) {

    AddressHandle make(AddressHandles.Place place) throws IOException {
        ByteBuffer gid = ByteBuffer.wrap(GidBytes.of(place.gid()));
        DcFabricConfig.Sending sending = config.sending();
        return mlx5.createAddressHandle(adapter.domain(),
                new AddressVector(config.port(), gids.require(place.gid()), gid.getLong(),
                        gid.getLong(), place.lid(), true, sending.hopLimit(),
                        sending.trafficClass(), sending.serviceLevel(), 0));
    }
}
