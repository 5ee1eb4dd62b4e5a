"""The response body of the list of stale products."""

from typing import Annotated

from pydantic import ConfigDict, Field

from cutroom.jobs.ids import DubProduct
from cutroom.products.declaration import StaleKind
from cutroom.web.schema import ApiModel, LanguageCode, Omittable


class StaleItem(ApiModel):
    """A product that would be different if it were made now."""

    product: StaleKind
    id: Annotated[
        str,
        Field(
            description="Of the job of captions, a dub, a title or a description; of the output of shorts; of the "
            "request of a thumbnail or download; of the video for its playback."
        ),
    ]
    language: Annotated[Omittable[LanguageCode], Field(description="Of captions, a dub or a download.")] = None
    dub_product: Annotated[Omittable[DubProduct], Field(description="The quality tier of a dub.")] = None
    reasons: Annotated[list[str], Field(description="What has changed.", json_schema_extra={"minItems": 1})]
    segments: Annotated[Omittable[int], Field(description="How many segments of captions or lines of a dub.")] = None
    transcript_revision: Annotated[
        Omittable[int], Field(description="The revision of the transcript that it was made from.")
    ] = None
    credits: Annotated[float, Field(description="What it costs to make it, or its stale parts, again.")]
    estimated_seconds: Annotated[float, Field(description="How long that takes; 0 if it is not known.")]


class StaleProductList(ApiModel):
    """The stale products of a video."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "videoId": "01j9z3k4m5n6p7q8r9s0t1v2w3",
                    "transcriptRevision": 5,
                    "credits": 0.4,
                    "products": [
                        {
                            "product": "captions",
                            "id": "captions_01j9z3k4m5n6p7q8r9s0t1v2w3_pt",
                            "language": "pt",
                            "reasons": ["sourceChanged"],
                            "segments": 2,
                            "credits": 0.4,
                            "estimatedSeconds": 5.6,
                        },
                        {
                            "product": "title",
                            "id": "packaging_01j9z3k4m5n6p7q8r9s0t1v2w3_generateTitle",
                            "reasons": ["sourceChanged"],
                            "transcriptRevision": 4,
                            "credits": 0.0,
                            "estimatedSeconds": 2.1,
                        },
                    ],
                }
            ]
        }
    )

    video_id: str
    transcript_revision: Annotated[
        Omittable[int], Field(description="The current revision of the transcript; absent if there is none.")
    ] = None
    credits: Annotated[float, Field(description="What making all of them again costs.")]
    products: list[StaleItem]
