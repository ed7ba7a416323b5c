// Messages carry the wire format's values: each file here knows them.
@_exported public import RelayWire
