"""HTTP route that deletes a character with its images."""

from fastapi import APIRouter

from cutroom.accounts.scopes import Scope
from cutroom.library.routes import CharacterId
from cutroom.products.characters import service
from cutroom.web.middleware import CurrentCall, OperationRoute
from cutroom.web.operation import Access, operation
from cutroom.web.revisions import IfMatch

router = APIRouter(prefix="/v1", route_class=OperationRoute, tags=["Library"])


@router.delete("/characters/{characterId}", status_code=204, summary="Delete a character")
@operation(scope=Scope.VIDEOS_WRITE, access=Access.WRITE, has_revisions=True)
async def delete_character(call: CurrentCall, character_id: CharacterId, if_match: IfMatch = None) -> None:
    """Deletes a character and its images. Thumbnails made with it stay. While an unfinished job uses it, it is not
    deleted (409).
    """
    await service.delete_character(call.connection, call.principal, character_id, if_match=if_match)
