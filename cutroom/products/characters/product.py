"""Declares the characters product."""

from cutroom.jobs.ids import InternalJobType
from cutroom.products.characters import export, routes, worker
from cutroom.products.characters.workflow import CharacterImageWorkflow, DeleteCharacterImagesWorkflow
from cutroom.products.declaration import JobSpec, Ownership, Product, StorageKind

PRODUCT = Product(
    name="characters",
    worker=worker.register,
    jobs=(JobSpec(InternalJobType.CHARACTER, workflow=CharacterImageWorkflow),),
    workflows=(DeleteCharacterImagesWorkflow,),
    routers=(routes.router,),
    owns=Ownership(objects={"characters/": StorageKind.DOCUMENT}),
    export_library=export.export_library,
)
